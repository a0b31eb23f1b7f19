/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LINE_EDITOR_H
#define MODEL_LINE_EDITOR_H

#include "base/error.h"
#include "model/completion.h"

#include <stddef.h>

/*
 * Reads lines from a terminal, with editing, completion and a history file. While it reads, the
 * terminal sends each key at once, and SIGWINCH and SIGCONT have handlers. Both are restored
 * afterwards. Use it in one thread, with one editor for each terminal.
 */
struct line_editor;

struct line_editor_request {
	int in_fd, out_fd;
	int stop_fd; /* reading a line ends when this descriptor is readable; -1: none */
	struct completion_source completion; /* completions for the Tab key; outlives the editor */
	/* path of the file with the history of typed lines; NULL: none */
	const char *history;
};

/* Makes a line editor. NULL if lines can't be edited: no terminal, a dumb one, or no libedit. */
struct line_editor *line_editor_new(const struct line_editor_request *request);
void line_editor_free(struct line_editor *ed); /* NULL is fine */

enum {
	LINE_EDITOR_CLEARED = 2, /* Ctrl-C dropped a line */
	LINE_EDITOR_REFUSED = 3, /* Ctrl-C on an empty line */
};

/* Reads a line. Returns 1 with the line, without its end and valid until the next call. Returns 0
 * at the end of input, or LINE_EDITOR_... after Ctrl-C, which sends no signal here. -EINTR: stop_fd
 * became readable. `prompt` must hold no control characters. */
int line_editor_read(struct line_editor *ed, const char *prompt, const char **out, size_t *out_n,
		struct fh_error *err);

/* Appends a line to the history of what a person typed. Adds it to the history file too, unless it
 * is too long. */
void line_editor_remember(struct line_editor *ed, const char *line, size_t n);

#endif
