/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LINE_EDITOR_H
#define MODEL_LINE_EDITOR_H

#include "base/error.h"
#include "model/completion.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Lines that a person types at a terminal: edited, completed, and remembered in a file from run to run. While a
 * line is read the terminal is raw and SIGWINCH and SIGCONT have handlers; between lines all is as it was. One
 * thread, and one editor for a terminal.
 */
struct line_editor;

struct line_editor_request {
	int in_fd, out_fd;
	int stop_fd;                         /* readable when waiting should end; -1: none */
	struct completion_source completion; /* outlives the editor */
	const char *history;                 /* the file; NULL: nothing outlives the editor */
};

/* NULL where lines can't be edited: no terminal, one that can't move its cursor, no library. */
struct line_editor *line_editor_new(const struct line_editor_request *request);
void line_editor_free(struct line_editor *ed); /* NULL is fine */

enum { LINE_EDITOR_CLEARED = 2 };

/* 1 with a line without its end, which lives until the next call; 0 at the end of input; LINE_EDITOR_CLEARED after
 * Ctrl-C, which is a key here and no signal; -EINTR when stop_fd ended it.
 * `prompt` holds nothing that steers a terminal. */
int line_editor_read(struct line_editor *ed, const char *prompt, const char **out, size_t *out_n,
		struct fh_error *err);

/* A line that was read will be found again. */
void line_editor_remember(struct line_editor *ed, const char *line, size_t n);

#endif
