/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/pipe_relay.h"

#include "base/mem.h"
#include "base/scope.h"
#include "proto/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Standard input, output or error of this process, whose data goes to or comes from a program in a
 * sandbox. */
struct relay_end {
	int number; /* number of the relayed descriptor: 0, 1 or 2; -1: not relayed, or closed */
	/*
	 * second, non-blocking descriptor of the relayed pipe; -1: it could not be opened, or a
	 * socket is relayed
	 */
	int again;
	bool is_socket;
};

struct sink {
	struct relay_end end;
	int slot;
	struct buf pending;
};

struct pipe_relay {
	struct sandbox *sb;
	uint32_t id;
	struct relay_end source;
	bool hungry;
	struct sink sinks[2];
};

/* --- this process' standard input, output and error ------------------------------------------ */

/*
 * Opens our pipe a second time, with O_NONBLOCK. Other processes share the flags of the first
 * descriptor, so these stay unchanged. A pipe of another user can't be opened again. Then poll()
 * tells when the pipe has data, or takes PIPE_BUF bytes.
 */
static void pipe_end_open(struct relay_end *end, int number, int flags)
{
	char path[32];
	struct stat st;

	end->number = end->again = -1;
	if (fstat(number, &st) < 0 || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		return;
	end->number = number;
	end->is_socket = S_ISSOCK(st.st_mode);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", number);
	if (!end->is_socket)
		end->again = open(path, flags | O_NONBLOCK | O_CLOEXEC);
}

static void pipe_end_close(struct relay_end *end)
{
	close_fd(&end->again);
	end->number = -1;
}

static bool pipe_end_is_ready(const struct relay_end *end, short events)
{
	struct pollfd p = { .fd = end->number, .events = events };

	return poll(&p, 1, 0) == 1;
}

/* Writes without blocking. Returns the number of bytes, 0 if the pipe is full, or a negative
 * errno. */
static ssize_t pipe_end_write(const struct relay_end *end, const char *data, size_t n)
{
	ssize_t r;

	if (end->is_socket)
		r = send(end->number, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	else if (end->again >= 0)
		r = write(end->again, data, n);
	else if (pipe_end_is_ready(end, POLLOUT))
		r = write(end->number, data, n < PIPE_BUF ? n : PIPE_BUF);
	else
		return 0;
	if (r < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return r;
}

/* Reads without blocking. Returns the number of bytes, or 0 at the end of input. -EAGAIN if there
 * is no input now, or another negative errno. */
static ssize_t pipe_end_read(const struct relay_end *end, char *data, size_t n)
{
	ssize_t r;

	if (end->is_socket)
		r = recv(end->number, data, n, MSG_DONTWAIT);
	else if (end->again >= 0)
		r = read(end->again, data, n);
	else if (pipe_end_is_ready(end, POLLIN))
		r = read(end->number, data, n);
	else
		return -EAGAIN;
	if (r < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	return r;
}

/* --- output ---------------------------------------------------------------------------------- */

static void sink_shut(struct pipe_relay *relay, struct sink *s)
{
	pipe_end_close(&s->end);
	buf_clear(&s->pending);
	sandbox_shut_output(relay->sb, relay->id, s->slot, NULL);
}

/* Writes output of the program. Returns how many bytes were written, or dropped because our end is
 * closed. */
static size_t sink_put(struct pipe_relay *relay, struct sink *s, const char *data, size_t n)
{
	size_t at = 0;
	ssize_t r = 1;

	while (at < n && r > 0 && s->end.number >= 0) {
		r = pipe_end_write(&s->end, data + at, n - at);
		at += r > 0 ? (size_t)r : 0;
		if (r < 0)
			sink_shut(relay, s);
	}
	return s->end.number < 0 ? n : at;
}

/* Takes output of the program. If a part can't be written yet, keeps that part. The program's
 * further output then waits until it is written. */
static void pipe_relay_take_output(void *arg, int slot, const char *data, size_t n)
{
	struct pipe_relay *relay = arg;
	struct sink *s = &relay->sinks[slot == STREAM_PIPE_1 ? 0 : 1];
	size_t done = sink_put(relay, s, data, n);

	if (done == n)
		return;
	buf_add(&s->pending, data + done, n - done);
	sandbox_hold_output(relay->sb, true);
}

bool pipe_relay_pending(const struct pipe_relay *relay)
{
	return relay->sinks[0].pending.len || relay->sinks[1].pending.len;
}

static void pipe_relay_flush(struct pipe_relay *relay)
{
	for (size_t i = 0; i < ARRAY_SIZE(relay->sinks); i++) {
		struct sink *s = &relay->sinks[i];
		size_t done = sink_put(relay, s, s->pending.data, s->pending.len);

		if (s->pending.len)
			buf_consume(&s->pending, done);
	}
	sandbox_hold_output(relay->sb, pipe_relay_pending(relay));
}

/* --- input ----------------------------------------------------------------------------------- */

void pipe_relay_hungry(struct pipe_relay *relay)
{
	relay->hungry = true;
}

static void pipe_relay_feed(struct pipe_relay *relay)
{
	static char piece[SANDBOX_FEED_MAX];
	ssize_t n = pipe_end_read(&relay->source, piece, sizeof(piece));

	if (n == -EAGAIN)
		return;
	relay->hungry = false;
	sandbox_feed(relay->sb, piece, n > 0 ? (size_t)n : 0, NULL);
	if (n <= 0)
		pipe_end_close(&relay->source);
}

/* --- the whole relay ------------------------------------------------------------------------- */

static bool pipe_relay_is_same(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
			x.st_ino == y.st_ino;
}

struct pipe_relay *pipe_relay_new(struct sandbox *sb, int streams[3])
{
	struct pipe_relay *relay = xcalloc(1, sizeof(*relay));
	sigset_t set;
	bool one = streams[1] == 1 && streams[2] == 2 && pipe_relay_is_same(1, 2);

	relay->sb = sb;
	relay->source.number = relay->source.again = -1;
	for (int i = 0; i < 2; i++) {
		relay->sinks[i] = (struct sink){ .end = { -1, -1, false },
			.slot = i ? STREAM_PIPE_2 : STREAM_PIPE_1,
			.pending = BUF_INIT(GUEST_MESSAGE_MAX) };
		if (streams[i + 1] == i + 1 && !(i && one))
			pipe_end_open(&relay->sinks[i].end, i + 1, O_WRONLY);
		if (relay->sinks[i].end.number >= 0)
			streams[i + 1] = relay->sinks[i].slot;
	}
	/* if standard output and error are the same pipe, relay both as one, so that they keep
	 * their order */
	if (one && streams[1] < 0)
		streams[2] = streams[1];
	if (streams[0] == 0)
		pipe_end_open(&relay->source, 0, O_RDONLY);
	if (relay->source.number >= 0)
		streams[0] = STREAM_INPUT;
	/* Block SIGPIPE, so that write() to a closed pipe fails with EPIPE. */
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sandbox_on_output(sb, pipe_relay_take_output, relay);
	return relay;
}

void pipe_relay_free(struct pipe_relay *relay)
{
	if (!relay)
		return;
	sandbox_on_output(relay->sb, NULL, NULL);
	pipe_end_close(&relay->source);
	for (size_t i = 0; i < ARRAY_SIZE(relay->sinks); i++) {
		pipe_end_close(&relay->sinks[i].end);
		buf_release(&relay->sinks[i].pending);
	}
	free(relay);
}

void pipe_relay_begin(struct pipe_relay *relay, uint32_t id)
{
	relay->id = id;
}

void pipe_relay_waits(const struct pipe_relay *relay, struct waits *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(relay->sinks); i++)
		if (relay->sinks[i].pending.len)
			waits_add(w, relay->sinks[i].end.number, POLLOUT);
	if (relay->hungry)
		waits_add(w, relay->source.number, POLLIN);
}

void pipe_relay_advance(struct pipe_relay *relay)
{
	if (pipe_relay_pending(relay))
		pipe_relay_flush(relay);
	if (relay->hungry && relay->source.number >= 0)
		pipe_relay_feed(relay);
}
