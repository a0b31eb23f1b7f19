/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "base/fd.h"
#include "base/futex.h"
#include "base/scope.h"
#include "guest/files.h"
#include "guest/start.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * The porter: a child of PID 1. An agent can make some system calls wait, by holding the kernel's
 * lock of a pipe or a file. Only the porter makes such calls, never PID 1 or the owner. The porter
 * reads the output of shell and programs, and writes to a program's input. It receives the agent's
 * requests, and copies files in and out. It is root of the sandbox, is outside the sandbox' limits,
 * and runs no code of an agent. It shares neither memory nor descriptors with PID 1.
 *
 * An agent may make the porter hang, by the lock of a pipe or a file. Then the porter does not
 * answer, and the owner ends the sandbox. The kernel kills the holder of the lock, so that the
 * porter can end too.
 *
 * The porter reads the shell's pipe only while a command takes long. The shell reads the rest
 * itself: see struct shell_gate. The porter reads all other pipes until they end.
 */

#define PORTER_STREAMS_MAX 16
/* number of descriptors that come with the shell's output: pipe, gate, eventfd */
#define SHELL_STREAM_FDS 3
/* most messages with a program's output that the porter sends before other work */
#define PIECES_MAX 4
/* milliseconds without work after which the porter leaves the agent's control groups: see
 * cradle.c */
#define MOVE_OUT_MS 20
/* milliseconds after which the porter leaves the control groups, however busy it is */
#define STAY_MS 100

struct porter_stream {
	uint32_t number;
	int fd; /* the porter's end of a pipe with output; -1: this entry is free */
};

/*
 * The pipe to a program's input. The owner sends one piece of input each time that the porter
 * reports room in the pipe.
 */
struct porter_input {
	int fd; /* writing end of the pipe to a program's input; -1: no program has input */
	size_t at, n;
	char piece[PORTER_CHUNK_MAX];
};

struct porter {
	const struct porter_start *start;
	struct porter_input input;
	/* pipes with output to forward; the first entry is the shell's */
	struct porter_stream streams[PORTER_STREAMS_MAX];
	struct shell_gate *gate;
	/* Eventfd that the shell writes to when the porter shall wake the owner. -1: no shell. */
	int event;
	/* number of the command whose output the porter forwards; 0: none */
	uint32_t pumped;
	uint8_t requests;
	bool in_groups;   /* the porter is still in the control groups with the agent's limits */
	int64_t leave_ns; /* time at which the porter leaves the control groups at the latest */
};

static void porter_tell(const struct porter *p, const struct buf *b, const int *fd)
{
	if (wire_send(p->start->owner, b, fd, fd ? 1 : 0) < 0)
		_exit(0);
}

static void porter_tell_event(const struct porter *p, enum porter_event event)
{
	auto_buf struct buf b = BUF_INIT(8);

	wire_put_u8(&b, (uint8_t)event);
	porter_tell(p, &b, NULL);
}

/* Sends the answer to a request of the owner. `digest` and `fd` may be NULL. */
static void porter_tell_done(const struct porter *p, uint32_t id, const struct fh_error *err,
		const uint8_t *digest, const int *fd)
{
	static const uint8_t no_digest[SHA256_BYTES];
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	wire_put_u8(&b, PORTER_DONE);
	wire_put_u32(&b, id);
	wire_put_u32(&b, (uint32_t)-err->code);
	wire_put_bytes(&b, err->message, strnlen(err->message, GUEST_TEXT_MAX - 1));
	wire_put_bytes(&b, digest ? digest : no_digest, SHA256_BYTES);
	porter_tell(p, &b, fd);
}

/* --- output ---------------------------------------------------------------------------------- */

/*
 * Reads from a pipe once and sends the bytes to the owner. Returns their number, 0 at the pipe's
 * end, or -EAGAIN. If the pipe can't be read, the porter ends, and so the sandbox: lost output must
 * not look like silence.
 */
static ssize_t porter_move_piece(const struct porter *p, const struct porter_stream *s, size_t most)
{
	static char message[GUEST_MESSAGE_MAX];
	struct buf head = BUF_INIT(16);
	size_t at, size = most < PORTER_CHUNK_MAX ? most : PORTER_CHUNK_MAX;
	ssize_t n;

	wire_put_u8(&head, PORTER_OUTPUT);
	wire_put_u32(&head, s->number);
	at = head.len;
	memcpy(message, head.data, at);
	buf_release(&head);
	while ((n = read(s->fd, message + at, size)) < 0 && errno == EINTR)
		;
	if (n < 0 && errno != EAGAIN)
		_exit(1);
	if (n > 0 && fd_send_message(p->start->owner, message, at + (size_t)n, NULL, 0, 0) < 0)
		_exit(0);
	return n < 0 ? -EAGAIN : n;
}

/*
 * Forwards output of the shell while the command with the number `pumped` runs. Once it has ended,
 * the shell reads the rest itself. The owner's request may come so late that the shell is already
 * some commands further.
 */
static void porter_pump_shell(struct porter *p)
{
	struct shell_gate *gate = p->gate;
	ssize_t n = 0;

	__atomic_store_n(&gate->moving, 1, __ATOMIC_SEQ_CST);
	if ((int32_t)(__atomic_load_n(&gate->over, __ATOMIC_SEQ_CST) - p->pumped) < 0)
		n = porter_move_piece(p, &p->streams[0], PORTER_CHUNK_MAX);
	__atomic_store_n(&gate->moving, 0, __ATOMIC_SEQ_CST);
	futex_wake(&gate->moving);
	if (n == 0)
		p->pumped = 0;
}

static void porter_pump_program(struct porter *p, struct porter_stream *s)
{
	ssize_t n = 1;

	for (int i = 0; i < PIECES_MAX && n > 0; i++)
		n = porter_move_piece(p, s, PORTER_CHUNK_MAX);
	if (n == 0)
		close_fd(&s->fd);
}

/*
 * Forwards the output that the pipe holds now, then stops. Later output is not awaited, because
 * background jobs may write for ever.
 */
static void porter_drain(const struct porter *p, const struct porter_stream *s)
{
	int left = 0;

	if (s->fd < 0)
		return;
	if (ioctl(s->fd, FIONREAD, &left) < 0)
		_exit(1);
	while (left > 0) {
		ssize_t n = porter_move_piece(p, s, (size_t)left);

		if (n <= 0)
			return;
		left -= (int)n;
	}
}

static void porter_handle_pump(struct porter *p, struct wire *w)
{
	p->pumped = wire_get_u32(w);
	guest_expect(wire_done(w));
	porter_tell_event(p, PORTER_PUMPS);
}

static void porter_handle_shut(struct porter *p, struct wire *w)
{
	uint32_t number = wire_get_u32(w);

	guest_expect(wire_done(w) && number);
	for (size_t i = 1; i < PORTER_STREAMS_MAX; i++)
		if (p->streams[i].number == number)
			close_fd(&p->streams[i].fd);
}

/*
 * Writes input to a program's pipe, as much as the pipe has room for. If the program has closed its
 * end, asks the owner for no more.
 */
static void porter_feed(struct porter *p)
{
	struct porter_input *in = &p->input;
	ssize_t n = write(in->fd, in->piece + in->at, in->n - in->at);

	if (n > 0)
		in->at += (size_t)n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		close_fd(&in->fd);
	if (in->fd >= 0 && in->at == in->n)
		porter_tell_event(p, PORTER_HUNGRY);
}

static void porter_handle_input(struct porter *p, const struct wire *w)
{
	struct porter_input *in = &p->input;

	if (in->fd < 0)
		return;
	if (w->left > sizeof(in->piece) || in->at < in->n)
		_exit(1);
	if (!w->left) {
		close_fd(&in->fd);
		return;
	}
	memcpy(in->piece, w->at, w->left);
	in->at = 0;
	in->n = w->left;
	porter_feed(p);
}

/* --- files ----------------------------------------------------------------------------------- */

static void porter_handle_get(const struct porter *p, struct wire *w)
{
	uint32_t id = wire_get_u32(w);
	auto_free char *folder = wire_get_str(w, GUEST_PATH_MAX);
	auto_free char *path = wire_get_str(w, GUEST_PATH_MAX);
	uint64_t most = wire_get_u64(w);
	uint8_t digest[SHA256_BYTES] = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	auto_close int fd = -1;

	guest_expect(wire_done(w));
	files_get(folder, path, most, &fd, digest, &err);
	porter_tell_done(p, id, &err, digest, fd >= 0 ? &fd : NULL);
}

static void porter_handle_put(const struct porter *p, struct wire *w, const int *fds, size_t n_fds)
{
	uint32_t id = wire_get_u32(w);
	auto_free char *folder = wire_get_str(w, GUEST_PATH_MAX);
	auto_free char *path = wire_get_str(w, GUEST_PATH_MAX);
	uint32_t mode = wire_get_u32(w);
	struct fh_error err = FH_ERROR_INIT;

	guest_expect(wire_done(w) && n_fds == 1);
	files_put(folder, path, (mode_t)mode, fds[0], &err);
	porter_tell_done(p, id, &err, NULL, NULL);
}

/*
 * Reports an agent's request to the owner. Does not report it again before the owner sends
 * PORTER_CLEAR. So an agent that makes requests without end does not fill the socket.
 */
static void porter_serve_request(struct porter *p, size_t i)
{
	uint8_t bit = (uint8_t)(1u << i);

	if (!(p->requests & bit)) {
		auto_buf struct buf b = BUF_INIT(8);

		p->requests |= bit;
		wire_put_u8(&b, PORTER_REQUEST);
		wire_put_u8(&b, p->requests);
		porter_tell(p, &b, NULL);
	}
	requests_answer(p->start->pipes[i]);
}

/* --- streams --------------------------------------------------------------------------------- */

/* Adds a pipe with output that PID 1 sent to those that the porter reads. Keeps its descriptors. */
static void porter_add_stream(struct porter *p, uint32_t number, const int *fds, size_t n_fds)
{
	struct porter_stream *s = number ? NULL : &p->streams[0];
	void *gate;

	if (number && STREAM_SLOT(number) == SLOT_INPUT && n_fds == 1) {
		close_fd(&p->input.fd);
		p->input.fd = fds[0];
		p->input.at = p->input.n = 0;
		porter_tell_event(p, PORTER_HUNGRY);
		return;
	}
	for (size_t i = 1; i < PORTER_STREAMS_MAX && !s; i++)
		if (p->streams[i].fd < 0)
			s = &p->streams[i];
	if (!s || n_fds != (number ? 1 : SHELL_STREAM_FDS))
		_exit(1);
	close_fd(&s->fd);
	*s = (struct porter_stream){ number, fds[0] };
	if (number)
		return;
	gate = mmap(NULL, sizeof(*p->gate), PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
	if (gate == MAP_FAILED)
		_exit(1);
	if (p->gate)
		munmap(p->gate, sizeof(*p->gate));
	p->gate = gate;
	close(fds[1]);
	close_fd(&p->event);
	p->event = fds[2];
}

/* --- the loop -------------------------------------------------------------------------------- */

static void porter_handle(
		struct porter *p, const char *message, size_t size, int *fds, size_t n_fds)
{
	struct wire w = wire_open(message, size);
	uint32_t id;

	switch ((enum porter_message)wire_get_u8(&w)) {
	case PORTER_GET:
		porter_handle_get(p, &w);
		break;
	case PORTER_PUT:
		porter_handle_put(p, &w, fds, n_fds);
		break;
	case PORTER_PUMP:
		porter_handle_pump(p, &w);
		break;
	case PORTER_DRAIN:
		id = wire_get_u32(&w);
		guest_expect(wire_done(&w));
		p->pumped = 0;
		for (size_t i = 0; i < PORTER_STREAMS_MAX; i++)
			porter_drain(p, &p->streams[i]);
		porter_tell_done(p, id, &(struct fh_error)FH_ERROR_INIT, NULL, NULL);
		break;
	case PORTER_CLEAR:
		p->requests = 0;
		break;
	case PORTER_INPUT:
		porter_handle_input(p, &w);
		break;
	case PORTER_SHUT:
		porter_handle_shut(p, &w);
		break;
	}
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
}

/*
 * Handles the next message on a socket of the porter. Returns false if no message has come. Ends
 * the porter if the owner or PID 1 has closed the socket.
 */
static bool porter_receive(struct porter *p, int socket)
{
	static char message[GUEST_MESSAGE_MAX];
	int fds[SHELL_STREAM_FDS];
	size_t n_fds = 0;
	ssize_t size = fd_recv_message(socket, message, sizeof(message), fds, SHELL_STREAM_FDS,
			&n_fds, MSG_DONTWAIT);
	struct wire w;

	if (size == -EAGAIN)
		return false;
	if (size <= 0)
		_exit(0);
	if (socket == p->start->owner) {
		porter_handle(p, message, (size_t)size, fds, n_fds);
		return true;
	}
	w = wire_open(message, (size_t)size);
	if (wire_get_u8(&w) != PORTER_STREAM)
		_exit(1);
	porter_add_stream(p, wire_get_u32(&w), fds, n_fds);
	return true;
}

/*
 * Leaves the control groups with the agent's limits, in which PID 1 and so the porter were born.
 * Leaving takes the kernel up to 20 ms. So the porter does it when it has no work, or after
 * STAY_MS.
 */
static void porter_leave_groups(struct porter *p)
{
	for (size_t i = 0; i < p->start->n_home; i++) {
		(void)!write(p->start->home[i], "0", 1);
		close(p->start->home[i]);
	}
	p->in_groups = false;
}

/*
 * Polls once and handles the porter's descriptors that are ready, those of the agent's requests
 * last. PORTER_CLEAR means that the owner has handled the requests reported before. So it must be
 * read before newer requests are reported.
 */
static void porter_turn(struct porter *p)
{
	struct pollfd fds[4 + REQUEST_PIPES + PORTER_STREAMS_MAX];
	struct pollfd *requests = fds + 4, *streams = requests + REQUEST_PIPES;
	bool feeds = p->input.at < p->input.n;
	uint64_t times;
	int r;

	fds[0] = (struct pollfd){ .fd = p->start->init, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = p->start->owner, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = feeds ? p->input.fd : -1, .events = POLLOUT };
	fds[3] = (struct pollfd){ .fd = p->event, .events = POLLIN };
	for (size_t i = 0; i < REQUEST_PIPES; i++)
		requests[i] = (struct pollfd){ .fd = p->start->pipes[i], .events = POLLIN };
	for (size_t i = 0; i < PORTER_STREAMS_MAX; i++)
		streams[i] = (struct pollfd){ .fd = p->streams[i].fd, .events = POLLIN };
	if (!p->pumped)
		streams[0].fd = -1;
	r = poll(fds, ARRAY_SIZE(fds), p->in_groups ? MOVE_OUT_MS : -1);
	if (p->in_groups && (r == 0 || clock_now_ns() >= p->leave_ns))
		porter_leave_groups(p);
	if (r <= 0)
		return;
	for (size_t i = 0; i < 2; i++)
		while (fds[i].revents && porter_receive(p, fds[i].fd))
			;
	if (fds[3].revents && fds[3].fd == p->event && read(p->event, &times, sizeof(times)) > 0)
		porter_tell_event(p, PORTER_RING);
	if (fds[2].revents && fds[2].fd == p->input.fd)
		porter_feed(p);
	for (size_t i = 1; i < PORTER_STREAMS_MAX; i++)
		if (streams[i].revents && streams[i].fd == p->streams[i].fd)
			porter_pump_program(p, &p->streams[i]);
	if (streams[0].revents && p->pumped)
		porter_pump_shell(p);
	for (size_t i = 0; i < REQUEST_PIPES; i++)
		if (requests[i].revents)
			porter_serve_request(p, i);
}

_Noreturn void porter_main(const struct porter_start *start)
{
	static struct porter p;

	prctl(PR_SET_NAME, "porter");
	p.start = start;
	p.in_groups = start->n_home > 0;
	p.input.fd = p.event = -1;
	p.leave_ns = clock_now_ns() + STAY_MS * NS_PER_MS;
	for (size_t i = 0; i < PORTER_STREAMS_MAX; i++)
		p.streams[i].fd = -1;
	if (start->shell.drain >= 0)
		porter_add_stream(&p, 0,
				(const int[]){ start->shell.drain, start->shell.gate,
						start->shell.event },
				SHELL_STREAM_FDS);
	for (;;)
		porter_turn(&p);
}
