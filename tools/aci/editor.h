/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_EDITOR_H
#define ACI_EDITOR_H

#include "base/buf.h"
#include "inside/tools.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The agents' file viewer and editor. A file beside the workspace keeps the open file and the place
 * in it, so that they outlive the shell. It is the agent's own, and only these commands rely on it.
 *
 * A window shows $WINDOW lines around the line `center`, which may be half a line, as in MLGym.
 */
#define EDITOR_FOLDER GUEST_HOME "/" GUEST_EDITOR_FOLDER
#define EDITOR_STATE GUEST_HOME "/" GUEST_EDITOR_STATE
#define EDITOR_FILE_BYTES_MAX (16L * 1024 * 1024)

struct editor {
	char file[4096]; /* absolute path of the open file; "": none */
	double center;
	int scrolls;            /* commands in a row that scrolled */
	double window, overlap; /* $WINDOW, $OVERLAP */
};

void editor_load(struct editor *e);
/* Saves it, and tells the environment which file is open. */
void editor_save(const struct editor *e);

/* False, with a sentence on stdout, if no file is open. */
bool editor_has_file(const struct editor *e);

/* A file's lines, without their endings ("\n" or "\r\n"); they point into `bytes`. */
struct lines_of {
	struct buf bytes;
	const char **at; /* starts of the n lines */
	size_t *length;
	size_t n;
};

/* False, with a sentence on stdout, if the file can't be read. */
bool lines_read(const char *path, struct lines_of *out);
void lines_split(struct lines_of *l);
/* Length of a line's ending: 2, 1, or 0 for a last line without one. */
size_t lines_ending(const struct lines_of *l, size_t i);
void lines_free(struct lines_of *l);
#define auto_lines __attribute__((cleanup(lines_free)))

/* Moves the window so that it is full, if the file has enough lines. */
double editor_constrain(double center, double window, size_t n);

/* Prints the window. */
void editor_show(const char *path, const struct lines_of *lines, double center, double window);

/* Reads "12", without a sign or blanks. */
bool editor_number(const char *text, long *out);

/* --- lint.c ----------------------------------------------------------------------------------- */
/* Starts a linter if the file is Python, without waiting for it. Failures are ignored. */
void lint_prepare(const char *path);
/* Waits until a linter answers, but at most some seconds. */
void lint_ready(void);
/* Writes flake8's errors of both texts, a line each: "LINE:COLUMN: CODE TEXT". False if there is no
 * flake8, or no answer from it, which a sentence on stdout says. */
bool lint_texts(const struct buf *before, const struct buf *after, struct buf *out_before,
		struct buf *out_after);

#endif
