/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "base/fd.h"
#include "base/futex.h"
#include "base/mem.h"
#include "base/scope.h"
#include "guest/guest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * The porter: a child of PID 1 that does what can wait for an agent, so that neither PID 1 nor the
 * owner has to. It reads the pipes that the shell and programs print to, writes to a program's input, hears the
 * agent's requests, and carries files in and out. It is root of the sandbox, is outside its limits, runs nothing of an
 * agent, and shares neither memory nor descriptors with PID 1.
 *
 * An agent may make it hang, by the lock of a pipe or a file. Then it does not answer, the owner ends
 * the sandbox, and the kernel kills the holder of the lock before the porter has to go.
 *
 * The shell's pipe is read here only while a command lasts long, since the shell reads what is left by
 * itself: see struct shell_gate. All other pipes are read as long as somebody may write to them.
 */
#define STREAMS_MAX 16
#define SHELL_STREAM_FDS 3 /* its pipe, its gate, its eventfd */
#define PIECES_MAX 4       /* of a program's output at a time */
#define MOVE_OUT_MS 20     /* see cradle.c */
#define STAY_MS 100        /* at most, however much there is to do */

struct stream {
	uint32_t number;
	int fd; /* -1: free */
};

/* Of a program. The owner sends a piece after it was told that there is room, so one is enough. */
struct input {
	int fd; /* -1: none */
	size_t at, n;
	char piece[PORTER_CHUNK_MAX];
};

struct porter {
	const struct porter_start *start;
	struct input input;
	struct stream streams[STREAMS_MAX]; /* the first is the shell's */
	struct shell_gate *gate;
	int event;       /* by which the shell wakes the owner; -1: there is no shell */
	uint32_t pumped; /* the turn of the command whose output is forwarded; 0: none */
	uint8_t requests;
	bool in_groups;   /* of the episode, still */
	int64_t leave_ns; /* when it leaves them at the latest */
};

/* --- telling the owner ----------------------------------------------------------------------- */

static void tell(const struct porter *p, const struct buf *b, const int *fd)
{
	if (wire_send(p->start->owner, b, fd, fd ? 1 : 0) < 0)
		_exit(0);
}

static void tell_that(const struct porter *p, enum porter_event event)
{
	auto_buf struct buf b = BUF_INIT(8);

	wire_put_u8(&b, (uint8_t)event);
	tell(p, &b, NULL);
}

static const uint8_t no_digest[SHA256_BYTES];

static void tell_done(const struct porter *p, uint32_t id, const struct fh_error *err,
		const uint8_t digest[SHA256_BYTES], const int *fd)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	wire_put_u8(&b, PORTER_DONE);
	wire_put_u32(&b, id);
	wire_put_u32(&b, (uint32_t)-err->code);
	wire_put_bytes(&b, err->message, strnlen(err->message, GUEST_TEXT_MAX - 1));
	wire_put_bytes(&b, digest, SHA256_BYTES);
	tell(p, &b, fd);
}

/* --- output ---------------------------------------------------------------------------------- */

/* One read, forwarded: the bytes, 0 at the end of the pipe, -EAGAIN. A pipe that can't be read ends the
 * porter, and so the sandbox: nobody is to take what is missing for silence. */
static ssize_t move_piece(const struct porter *p, const struct stream *s, size_t most)
{
	static char message[GUEST_MESSAGE_MAX];
	struct buf head = BUF_INIT(16);
	ssize_t n;
	size_t at;

	wire_put_u8(&head, PORTER_OUTPUT);
	wire_put_u32(&head, s->number);
	at = head.len;
	memcpy(message, head.data, at);
	buf_release(&head);
	while ((n = read(s->fd, message + at, most < PORTER_CHUNK_MAX ? most : PORTER_CHUNK_MAX)) <
					0 &&
			errno == EINTR)
		;
	if (n < 0 && errno != EAGAIN)
		_exit(1);
	if (n > 0 && fd_send_message(p->start->owner, message, at + (size_t)n, NULL, 0, 0) < 0)
		_exit(0);
	return n < 0 ? -EAGAIN : n;
}

/* False if the command, or a later one, is over: then the shell has what is left. A request to pump may
 * come so late that the shell is commands ahead. */
static bool gate_enter(struct porter *p)
{
	__atomic_store_n(&p->gate->moving, 1, __ATOMIC_SEQ_CST);
	return (int32_t)(__atomic_load_n(&p->gate->over, __ATOMIC_SEQ_CST) - p->pumped) < 0;
}

static void gate_leave(struct porter *p)
{
	__atomic_store_n(&p->gate->moving, 0, __ATOMIC_SEQ_CST);
	futex_wake(&p->gate->moving);
}

static void pump_shell(struct porter *p)
{
	ssize_t n = 0;
	bool on = gate_enter(p);

	if (on)
		n = move_piece(p, &p->streams[0], PORTER_CHUNK_MAX);
	gate_leave(p);
	if (!on || n == 0)
		p->pumped = 0;
}

static void pump_program(struct porter *p, struct stream *s)
{
	ssize_t n = 1;

	for (int i = 0; i < PIECES_MAX && n > 0; i++)
		n = move_piece(p, s, PORTER_CHUNK_MAX);
	if (n == 0)
		close_fd(&s->fd);
}

/* What the pipe holds now, not until it is empty: background jobs may go on writing. */
static void drain(const struct porter *p, const struct stream *s)
{
	int left = 0;

	if (s->fd < 0)
		return;
	if (ioctl(s->fd, FIONREAD, &left) < 0)
		_exit(1);
	while (left > 0) {
		ssize_t n = move_piece(p, s, (size_t)left);

		if (n <= 0)
			return;
		left -= (int)n;
	}
}

static void handle_drain(struct porter *p, struct wire *w)
{
	uint32_t id = wire_get_u32(w);
	struct fh_error err = FH_ERROR_INIT;

	if (!wire_done(w))
		_exit(1);
	p->pumped = 0;
	for (size_t i = 0; i < STREAMS_MAX; i++)
		drain(p, &p->streams[i]);
	tell_done(p, id, &err, no_digest, NULL);
}

static void handle_pump(struct porter *p, struct wire *w)
{
	p->pumped = wire_get_u32(w);
	if (!wire_done(w))
		_exit(1);
	tell_that(p, PORTER_PUMPS);
}

static void ring(const struct porter *p)
{
	uint64_t times;

	if (read(p->event, &times, sizeof(times)) > 0)
		tell_that(p, PORTER_RING);
}

static void handle_shut(struct porter *p, struct wire *w)
{
	uint32_t number = wire_get_u32(w);

	if (!wire_done(w) || !number)
		_exit(1);
	for (size_t i = 1; i < STREAMS_MAX; i++)
		if (p->streams[i].number == number)
			close_fd(&p->streams[i].fd);
}

/* --- input ----------------------------------------------------------------------------------- */

static void begin_input(struct porter *p, int fd)
{
	close_fd(&p->input.fd);
	p->input.fd = fd;
	p->input.at = p->input.n = 0;
	tell_that(p, PORTER_HUNGRY);
}

/* As much as there is room for. If nobody reads it, no more is asked for. */
static void feed(struct porter *p)
{
	struct input *in = &p->input;
	ssize_t n = write(in->fd, in->piece + in->at, in->n - in->at);

	if (n > 0)
		in->at += (size_t)n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		close_fd(&in->fd);
	if (in->fd >= 0 && in->at == in->n)
		tell_that(p, PORTER_HUNGRY);
}

static void handle_input(struct porter *p, const struct wire *w)
{
	struct input *in = &p->input;

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
	feed(p);
}

/* --- files ----------------------------------------------------------------------------------- */

static void handle_get(const struct porter *p, struct wire *w)
{
	uint32_t id = wire_get_u32(w);
	auto_free char *folder = wire_get_str(w, GUEST_PATH_MAX);
	auto_free char *path = wire_get_str(w, GUEST_PATH_MAX);
	uint64_t most = wire_get_u64(w);
	uint8_t digest[SHA256_BYTES] = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	auto_close int fd = -1;

	if (!wire_done(w))
		_exit(1);
	files_get(folder, path, most, &fd, digest, &err);
	tell_done(p, id, &err, digest, fd >= 0 ? &fd : NULL);
}

static void handle_put(const struct porter *p, struct wire *w, const int *fds, size_t n_fds)
{
	uint32_t id = wire_get_u32(w);
	auto_free char *folder = wire_get_str(w, GUEST_PATH_MAX);
	auto_free char *path = wire_get_str(w, GUEST_PATH_MAX);
	uint32_t mode = wire_get_u32(w);
	struct fh_error err = FH_ERROR_INIT;

	if (!wire_done(w) || n_fds != 1)
		_exit(1);
	files_put(folder, path, (mode_t)mode, fds[0], &err);
	tell_done(p, id, &err, no_digest, NULL);
}

/* --- the agent's requests -------------------------------------------------------------------- */

/* Told once until the owner clears it: an agent that asks without end fills nothing. */
static void serve_request(struct porter *p, size_t i)
{
	uint8_t bit = (uint8_t)(1u << i);

	if (!(p->requests & bit)) {
		auto_buf struct buf b = BUF_INIT(8);

		p->requests |= bit;
		wire_put_u8(&b, PORTER_REQUEST);
		wire_put_u8(&b, p->requests);
		tell(p, &b, NULL);
	}
	requests_answer(p->start->pipes[i]);
}

/* --- streams --------------------------------------------------------------------------------- */

static void set_gate(struct porter *p, int fd)
{
	void *gate = mmap(NULL, sizeof(*p->gate), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (gate == MAP_FAILED)
		_exit(1);
	if (p->gate)
		munmap(p->gate, sizeof(*p->gate));
	p->gate = gate;
	close(fd);
}

static struct stream *free_stream(struct porter *p)
{
	for (size_t i = 1; i < STREAMS_MAX; i++)
		if (p->streams[i].fd < 0)
			return &p->streams[i];
	return NULL;
}

/* Takes the descriptors. */
static void add_stream(struct porter *p, uint32_t number, const int *fds, size_t n_fds)
{
	struct stream *s = number ? free_stream(p) : &p->streams[0];

	if (number && STREAM_SLOT(number) == SLOT_INPUT && n_fds == 1) {
		begin_input(p, fds[0]);
		return;
	}
	if (!s || n_fds != (number ? 1 : SHELL_STREAM_FDS))
		_exit(1);
	close_fd(&s->fd);
	*s = (struct stream){ number, fds[0] };
	if (number)
		return;
	set_gate(p, fds[1]);
	close_fd(&p->event);
	p->event = fds[2];
}

/* --- the loop -------------------------------------------------------------------------------- */

static void handle(struct porter *p, const char *message, size_t size, int *fds, size_t n_fds)
{
	struct wire w = wire_open(message, size);

	switch ((enum porter_message)wire_get_u8(&w)) {
	case PORTER_GET:
		handle_get(p, &w);
		break;
	case PORTER_PUT:
		handle_put(p, &w, fds, n_fds);
		break;
	case PORTER_PUMP:
		handle_pump(p, &w);
		break;
	case PORTER_DRAIN:
		handle_drain(p, &w);
		break;
	case PORTER_CLEAR:
		p->requests = 0;
		break;
	case PORTER_INPUT:
		handle_input(p, &w);
		break;
	case PORTER_SHUT:
		handle_shut(p, &w);
		break;
	}
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
}

/* The next message of a socket; false if there is none now. It ends with its peers. */
static bool receive(struct porter *p, int socket)
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
		handle(p, message, (size_t)size, fds, n_fds);
		return true;
	}
	w = wire_open(message, (size_t)size);
	if (wire_get_u8(&w) != PORTER_STREAM)
		_exit(1);
	add_stream(p, wire_get_u32(&w), fds, n_fds);
	return true;
}

/* PID 1 was born in the episode's groups, and so was its porter. Leaving them takes the kernel up to 20 ms,
 * so the porter waits for a pause. It waits STAY_MS at most: their limits are the agent's. */
static void leave_groups(struct porter *p)
{
	for (size_t i = 0; i < p->start->n_home; i++) {
		(void)!write(p->start->home[i], "0", 1);
		close(p->start->home[i]);
	}
	p->in_groups = false;
}

/* Requests are looked for first and served last: the owner has dealt with the ones before them, and that
 * it says so must not be read after them. */
static void turn(struct porter *p)
{
	struct pollfd fds[4 + REQUEST_PIPES + STREAMS_MAX];
	struct pollfd *requests = fds + 4, *streams = requests + REQUEST_PIPES;
	bool feeds = p->input.at < p->input.n;
	int r;

	fds[0] = (struct pollfd){ .fd = p->start->init, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = p->start->owner, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = feeds ? p->input.fd : -1, .events = POLLOUT };
	fds[3] = (struct pollfd){ .fd = p->event, .events = POLLIN };
	for (size_t i = 0; i < REQUEST_PIPES; i++)
		requests[i] = (struct pollfd){ .fd = p->start->pipes[i], .events = POLLIN };
	for (size_t i = 0; i < STREAMS_MAX; i++)
		streams[i] = (struct pollfd){ .fd = p->streams[i].fd, .events = POLLIN };
	if (!p->pumped)
		streams[0].fd = -1;
	r = poll(fds, ARRAY_SIZE(fds), p->in_groups ? MOVE_OUT_MS : -1);
	if (p->in_groups && (r == 0 || clock_now_ns() >= p->leave_ns))
		leave_groups(p);
	if (r <= 0)
		return;
	for (size_t i = 0; i < 2; i++)
		while (fds[i].revents && receive(p, fds[i].fd))
			;
	if (fds[3].revents && fds[3].fd == p->event)
		ring(p);
	if (fds[2].revents && fds[2].fd == p->input.fd)
		feed(p);
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (streams[i].revents && streams[i].fd == p->streams[i].fd && i)
			pump_program(p, &p->streams[i]);
	if (streams[0].revents && p->pumped)
		pump_shell(p);
	for (size_t i = 0; i < REQUEST_PIPES; i++)
		if (requests[i].revents)
			serve_request(p, i);
}

_Noreturn void porter_main(const struct porter_start *start)
{
	static struct porter p;

	prctl(PR_SET_NAME, "porter");
	p.start = start;
	p.in_groups = start->n_home > 0;
	p.input.fd = p.event = -1;
	p.leave_ns = clock_now_ns() + STAY_MS * NS_PER_MS;
	for (size_t i = 0; i < STREAMS_MAX; i++)
		p.streams[i].fd = -1;
	if (start->shell.drain >= 0)
		add_stream(&p, 0,
				(const int[]){ start->shell.drain, start->shell.gate,
						start->shell.event },
				SHELL_STREAM_FDS);
	for (;;)
		turn(&p);
}
