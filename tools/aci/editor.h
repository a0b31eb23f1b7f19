/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_EDITOR_H
#define ACI_EDITOR_H

#include "base/buf.h"
#include "inside/tools.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The agent's file viewer and editor. A state file beside the workspace has the open file's path,
 * the window's center and the number of scrolls. So they survive a restart of the shell. The state
 * file belongs to the agent, and only these commands rely on it.
 *
 * A window shows $WINDOW lines around the line `center`, which may be half a line, as in MLGym.
 */

#define EDITOR_FOLDER GUEST_HOME "/" GUEST_EDITOR_FOLDER
#define EDITOR_STATE GUEST_HOME "/" GUEST_EDITOR_STATE
#define EDITOR_FILE_BYTES_MAX (16L * 1024 * 1024)

struct editor {
	char file[4096]; /* absolute path of the open file; "": no file is open */
	double center;
	int scrolls; /* number of scrolling commands in a row */
	/* lines of a window, and lines that it shares with the next: $WINDOW, $OVERLAP */
	double window, overlap;
};

void editor_load(struct editor *e);
/* Saves the editor's state, and tells the environment which file is open. */
void editor_save(const struct editor *e);

/* True if a file is open. Otherwise prints a sentence on stdout. */
bool editor_has_file(const struct editor *e);

/* A file's lines, without line endings ("\n" or "\r\n"). The lines point into `bytes`. */
struct lines_of {
	struct buf bytes;
	const char **at; /* first bytes of the n lines */
	size_t *length;
	size_t n;
};

/* Reads a file and finds its lines. False if the file can't be read; prints a sentence on
 * stdout. */
bool lines_read(const char *path, struct lines_of *out);
void lines_split(struct lines_of *l);
/* Length of the ending of line i: 2, 1, or 0 for a last line without one. */
size_t lines_ending(const struct lines_of *l, size_t i);
void lines_free(struct lines_of *l);
#define auto_lines_of __attribute__((cleanup(lines_free)))

/* Moves the window's center so that the window lies inside of a file of n lines. */
double editor_constrain(double center, double window, size_t n);

/* Prints a window of a file. */
void editor_show(const char *path, const struct lines_of *lines, double center, double window);

/* Reads a number such as "12", without a sign or blanks. False for other texts. */
bool editor_number(const char *text, long *out);

/* --- lint.c ----------------------------------------------------------------------------------- */
/* Starts a linter if `path` names a Python file. Does not wait for the linter. Ignores failures. */
void lint_prepare(const char *path);
/* Waits some seconds at most until a linter answers. */
void lint_ready(void);
/* Runs flake8 on two texts. Writes the errors of each, a line per error: "LINE:COLUMN: CODE TEXT".
 * False if there is no flake8 or no answer; prints a sentence on stdout. */
bool lint_texts(const struct buf *before, const struct buf *after, struct buf *out_before,
		struct buf *out_after);

#endif
