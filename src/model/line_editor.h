/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LINE_EDITOR_H
#define MODEL_LINE_EDITOR_H

#include "base/error.h"
#include "model/completion.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads lines from a terminal, with editing, completion and a history in a file. While it reads,
 * the terminal is raw, and SIGWINCH and SIGCONT have handlers. Afterwards both are restored. For
 * one thread, and one editor a terminal.
 */
struct line_editor;

struct line_editor_request {
	int in_fd, out_fd;
	int stop_fd;                         /* readable when reading should end; -1: none */
	struct completion_source completion; /* outlives the editor */
	const char *history;                 /* path of the file; NULL: none */
};

/* NULL if lines can't be edited: no terminal, a dumb one, or no libedit. */
struct line_editor *line_editor_new(const struct line_editor_request *request);
void line_editor_free(struct line_editor *ed); /* NULL is fine */

enum { LINE_EDITOR_CLEARED = 2 };

/* 1 with a line without its end, valid until the next call. 0 at the end of input.
 * LINE_EDITOR_CLEARED after Ctrl-C, which sends no signal here. -EINTR if stop_fd ended it.
 * `prompt` must hold no control characters. */
int line_editor_read(struct line_editor *ed, const char *prompt, const char **out, size_t *out_n,
		struct fh_error *err);

/* Adds a line to the history. */
void line_editor_remember(struct line_editor *ed, const char *line, size_t n);

#endif
