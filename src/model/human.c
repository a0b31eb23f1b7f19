/* SPDX-License-Identifier: Apache-2.0 */
#include "model/backend.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * human: shows what a step gave and reads the next action, a line, or several between
 * start_multiline_command and end_multiline_command. What is shown comes from a sandbox, so that
 * nothing in it may steer the terminal. The end of input gives exit_forfeit: the episode ends
 * unscored, since whoever wants a score types submit.
 */

#define ACTION_BYTES_MAX (16L * 1024 * 1024)
#define SHOWN_BYTES_MAX (8L * 1024 * 1024)

struct human {
	int in, out, stop;
	struct buf pending; /* read, and not yet given out */
	struct buf line;    /* the last whole line */
	struct buf action;
	bool ended; /* no more input */
};

static int human_open(const struct model_request *request, const char *argument, void **out_state,
		struct fh_error *err)
{
	struct human *h = xcalloc(1, sizeof(*h));

	h->in = request->in_fd;
	h->out = request->out_fd;
	h->stop = request->stop_fd;
	buf_init(&h->pending, ACTION_BYTES_MAX);
	buf_init(&h->line, ACTION_BYTES_MAX);
	buf_init(&h->action, ACTION_BYTES_MAX);
	*out_state = h;
	return 0;
}

static void human_close(void *state)
{
	struct human *h = state;

	buf_release(&h->pending);
	buf_release(&h->line);
	buf_release(&h->action);
	free(h);
}

/* Waits for input; -EINTR when it should end. */
static int wait_for_input(struct human *h)
{
	struct pollfd fds[] = { { .fd = h->in, .events = POLLIN },
		{ .fd = h->stop, .events = POLLIN } };

	while (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return fds[1].revents ? -EINTR : 0;
}

static int read_more(struct human *h, struct fh_error *err)
{
	char chunk[4096];
	ssize_t n;
	int r;

	r = wait_for_input(h);
	if (r == -EINTR)
		return error_say(err, EINTR, "interrupted");
	if (r < 0)
		return error_set(err, -r, "wait for input");
	n = read(h->in, chunk, sizeof(chunk));
	if (n < 0 && errno == EINTR)
		return 0;
	if (n < 0)
		return error_set(err, errno, "read input");
	if (n == 0)
		h->ended = true;
	buf_add(&h->pending, chunk, (size_t)n);
	if (h->pending.truncated)
		return error_say(err, EFBIG, "a line of input is longer than %ld bytes",
				ACTION_BYTES_MAX);
	return 0;
}

/* The next line without its end into h->line; 1, or 0 at the end of input. */
static int read_line(struct human *h, struct fh_error *err)
{
	const char *newline;
	size_t n;

	while (!(newline = memchr(buf_str(&h->pending), '\n', h->pending.len)) && !h->ended) {
		int r = read_more(h, err);

		if (r < 0)
			return r;
	}
	if (!newline && !h->pending.len)
		return 0;
	n = newline ? (size_t)(newline - h->pending.data) : h->pending.len;
	buf_clear(&h->line);
	buf_add(&h->line, h->pending.data, n);
	buf_consume(&h->pending, n + (newline != NULL));
	return 1;
}

static bool is_command(const struct human *h, const char *word)
{
	const char *line = buf_str(&h->line);
	size_t n = strlen(word);

	return strncmp(line, word, n) == 0 && strspn(line + n, " \t\r") == strlen(line + n);
}

static int read_block(struct human *h, struct fh_error *err)
{
	int r;

	buf_clear(&h->action);
	while ((r = read_line(h, err)) > 0) {
		if (is_command(h, "end_multiline_command"))
			return 1;
		buf_add(&h->action, buf_str(&h->line), h->line.len);
		buf_add_char(&h->action, '\n');
		if (h->action.truncated)
			return error_say(err, EFBIG, "a command is longer than %ld bytes",
					ACTION_BYTES_MAX);
	}
	return r;
}

static void show(struct human *h, const char *text, const char *prompt)
{
	auto_buf struct buf out = BUF_INIT(SHOWN_BYTES_MAX);

	str_add_printable(&out, text);
	if (out.len && out.data[out.len - 1] != '\n')
		buf_add_char(&out, '\n');
	str_add_printable(&out, prompt);
	/* Nobody to show it to is no reason to stop. */
	(void)fd_write_full(h->out, buf_str(&out), out.len);
}

static int read_action(struct human *h, const char *prompt, struct fh_error *err)
{
	int r;

	while ((r = read_line(h, err)) > 0) {
		if (is_command(h, "start_multiline_command"))
			return read_block(h, err);
		if (!is_command(h, "")) {
			buf_clear(&h->action);
			buf_add(&h->action, buf_str(&h->line), h->line.len);
			return 1;
		}
		show(h, "", prompt);
	}
	return r;
}

static int human_next(void *state, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err)
{
	struct human *h = state;
	auto_free char *prompt = xasprintf("[step %d] %s $ ", step->step + 1, step->working_dir);
	int r;

	show(h, step->observation, prompt);
	r = read_action(h, prompt, err);
	if (r < 0)
		return r;
	/* A NUL would hide what follows it. */
	if (r > 0 && strlen(buf_str(&h->action)) != h->action.len)
		return error_say(err, EINVAL, "the input holds a NUL byte");
	*out = (struct model_turn){ .action = r > 0 ? buf_str(&h->action) : "exit_forfeit" };
	return 0;
}

const struct model_backend model_human = {
	.name = "human",
	.interactive = true,
	.open = human_open,
	.next = human_next,
	.close = human_close,
};
