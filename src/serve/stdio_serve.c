/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/stdio_serve.h"

#include "base/scope.h"
#include "serve/inbox.h"
#include "serve/mcp.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536
/* poll() promises room for as many bytes in a pipe: a write of them does not block. */
#define WRITE_BYTES 4096

struct stdio {
	struct seats seats;
	struct client client;
	struct inbox inbox;
	struct buf in; /* begin of a line */
	bool skipping; /* the rest of a line that is too long is to be skipped */
	size_t sent;   /* bytes of the client's answer that were written */
	bool sending;  /* an answer is being written */
	bool in_ended, out_ended;
};

static void stdio_answered(void *user)
{
	struct stdio *s = user;

	if (s->client.answer.len)
		buf_add_char(&s->client.answer, '\n');
	s->sent = 0;
	s->sending = s->client.answer.len > 0;
}

/* --- input ------------------------------------------------------------------------------------ */

static void stdio_end_line(struct stdio *s)
{
	if (s->in.len || s->skipping)
		mcp_keep(&s->client, &s->inbox, s->skipping ? "too long" : buf_str(&s->in),
				s->in.len);
	s->skipping = false;
	buf_clear(&s->in);
}

static void stdio_add(struct stdio *s, const char *data, size_t n)
{
	while (n) {
		const char *newline = memchr(data, '\n', n);
		size_t part = newline ? (size_t)(newline - data) : n;

		if (!s->skipping)
			buf_add(&s->in, data, part);
		if (s->in.truncated) {
			/* Replace too long a line by a text that is not JSON: the answer is a parse
			 * error. */
			s->skipping = true;
			s->in.truncated = false;
			s->in.len = strlen("too long");
		}
		if (!newline)
			return;
		stdio_end_line(s);
		data += part + 1;
		n -= part + 1;
	}
}

static void stdio_read(struct stdio *s, int fd)
{
	char data[READ_BYTES];
	ssize_t n = read(fd, data, sizeof(data));

	if (n > 0) {
		stdio_add(s, data, (size_t)n);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		stdio_end_line(s);
		s->in_ended = true;
	}
}

/* --- output ----------------------------------------------------------------------------------- */

static void stdio_write(struct stdio *s, int fd)
{
	const struct buf *answer = &s->client.answer;
	size_t left = answer->len - s->sent;
	ssize_t n = write(fd, answer->data + s->sent, left < WRITE_BYTES ? left : WRITE_BYTES);

	if (n < 0) {
		s->out_ended = errno != EINTR && errno != EAGAIN;
		return;
	}
	s->sent += (size_t)n;
	s->sending = s->sent < answer->len;
}

/* --- the loop --------------------------------------------------------------------------------- */

static void stdio_go_on(struct stdio *s)
{
	while (!s->client.busy && !s->sending) {
		struct inbox_message *m = inbox_take(&s->inbox);

		if (!m)
			return;
		mcp_message(&s->client, m->text, m->n);
		inbox_message_free(m);
	}
}

static bool stdio_is_over(const struct stdio *s)
{
	return s->out_ended || (s->in_ended && !s->client.busy && !s->sending && !s->inbox.first);
}

/* Waits for something to do, and does it. Returns 1 after a stop. */
static int stdio_wait(struct stdio *s, int in_fd, int out_fd, struct fh_error *err)
{
	struct host *h = s->seats.host;
	struct pollfd fds[] = {
		{ .fd = h->options->stop_fd, .events = POLLIN },
		{ .fd = fh_gym_fd(h->gym), .events = POLLIN },
		{ .fd = h->openings.fd, .events = POLLIN },
		{ .fd = s->in_ended || inbox_is_full(&s->inbox) ? -1 : in_fd, .events = POLLIN },
		{ .fd = out_fd, .events = s->sending ? POLLOUT : 0 },
	};

	if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
		return errno == EINTR ? 0 : error_set(err, errno, "wait for messages");
	if (fds[0].revents)
		return 1;
	if (fds[3].revents)
		stdio_read(s, in_fd);
	if (fds[4].revents & POLLOUT)
		stdio_write(s, out_fd);
	else if (fds[4].revents)
		s->out_ended = true;
	return seats_advance(&s->seats, err);
}

int stdio_serve(struct host *host, int in_fd, int out_fd, struct fh_error *err)
{
	struct stdio s = { .seats = SEATS_INIT(s.seats, host),
		.in = BUF_INIT(CLIENT_MESSAGE_BYTES_MAX) };
	int r = 0;

	client_init(&s.client, &s.seats, stdio_answered, &s);
	s.client.must_own = true;
	while (!stdio_is_over(&s)) {
		r = stdio_wait(&s, in_fd, out_fd, err);
		if (r != 0)
			break;
		stdio_go_on(&s);
	}
	client_release(&s.client);
	seats_end(&s.seats);
	inbox_release(&s.inbox);
	buf_release(&s.in);
	return r < 0 ? r : 0;
}
