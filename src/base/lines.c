/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lines.h"

#include "base/scope.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* Waits until fd has input. Returns false if stop_fd becomes readable first. */
static bool lines_wait(int fd, int stop_fd)
{
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
		{ .fd = stop_fd, .events = POLLIN } };

	while (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
		if (errno != EINTR)
			return true;
	}
	return !fds[1].revents;
}

/* Reads once from fd into the buffer. Sets `ended` at the end of input and after an error. */
static void lines_fill(struct lines *l, int fd)
{
	size_t room = buf_reserve(&l->data, 65536);
	ssize_t n = read(fd, l->data.data + l->data.len, room);

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		l->ended = true;
		return;
	}
	l->data.len += (size_t)n;
	l->data.data[l->data.len] = '\0';
}

/* Takes the next whole line from the buffer; at the end of input, also a last line without a
 * newline. False: no whole line is there yet. */
static bool lines_take(struct lines *l, const char **out, size_t *out_n)
{
	const char *newline = memchr(buf_str(&l->data), '\n', l->data.len);

	if (!newline && (!l->ended || !l->data.len))
		return false;
	*out = l->data.data;
	*out_n = newline ? (size_t)(newline - l->data.data) : l->data.len;
	l->given = *out_n + (newline != NULL);
	return true;
}

enum lines_result lines_next(struct lines *l, int fd, int stop_fd, const char **out, size_t *out_n)
{
	buf_consume(&l->data, l->given);
	l->given = 0;
	for (;;) {
		if (lines_take(l, out, out_n)) {
			bool too_long = l->skipping || *out_n > LINE_BYTES_MAX;

			l->skipping = false;
			return too_long ? LINES_TOO_LONG : LINES_LINE;
		}
		if (l->ended)
			return LINES_END;
		if (l->data.len > LINE_BYTES_MAX) {
			buf_clear(&l->data);
			l->skipping = true;
		}
		if (!lines_wait(fd, stop_fd))
			return LINES_STOPPED;
		lines_fill(l, fd);
	}
}

void lines_release(struct lines *l)
{
	buf_release(&l->data);
}
