/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_EDITOR_H
#define ACI_EDITOR_H

#include "base/buf.h"
#include "inside/tools.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The file viewer and editor of agents. What is open, and where, outlives the shell: it lies in a file of the
 * agent's own, beside its workspace. Nothing but these commands relies on it.
 *
 * A window shows WINDOW lines around the line `center`, which may be half a line, as MLGym's do.
 */
#define EDITOR_FOLDER GUEST_HOME "/" GUEST_EDITOR_FOLDER
#define EDITOR_STATE GUEST_HOME "/" GUEST_EDITOR_STATE
#define EDITOR_FILE_BYTES_MAX (16L * 1024 * 1024)

struct editor {
	char file[4096]; /* absolute; "": none is open */
	double center;
	int scrolls;            /* in a row */
	double window, overlap; /* $WINDOW, $OVERLAP */
};

void editor_load(struct editor *e);
/* Saves it, and tells the environment which file is open. */
void editor_save(const struct editor *e);

/* False, with a sentence on stdout, if none is. */
bool editor_has_file(const struct editor *e);

/* A file's lines, without what ends them ("\n" or "\r\n"); they point into `bytes`. */
struct lines_of {
	struct buf bytes;
	const char **at; /* n of them */
	size_t *length;
	size_t n;
};

/* False, with a sentence on stdout. */
bool lines_read(const char *path, struct lines_of *out);
void lines_split(struct lines_of *l);
/* Bytes of what ends a line: 2 of "\r\n", 1, or 0 of a last line that has no end. */
size_t lines_ending(const struct lines_of *l, size_t i);
void lines_free(struct lines_of *l);
#define auto_lines __attribute__((cleanup(lines_free)))

/* Moves the window so that it shows as much as it can of a file of n lines. */
double editor_constrain(double center, double window, size_t n);

/* Prints the window. */
void editor_show(const char *path, const struct lines_of *lines, double center, double window);

/* "12" and nothing else. */
bool editor_number(const char *text, long *out);

/* --- lint.c --------------------------------------------------------------------------------------- */
/* Has a linter start if the file is Python, and waits for nothing. It need not succeed. */
void lint_prepare(const char *path);
/* Waits until one answers, or for some seconds. */
void lint_ready(void);
/* What flake8 says of a text, a line each: "LINE:COLUMN: CODE TEXT". False if it can't be asked; where it is
 * there but gives no answer, with a sentence on stdout. */
bool lint_texts(const struct buf *before, const struct buf *after, struct buf *out_before,
		struct buf *out_after);

#endif
