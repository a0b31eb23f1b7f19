/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "base/buf.h"

#include <stdbool.h>

/* Abilities of terminals, and text that fits their lines. */

/* True for a terminal that takes colours: not with NO_COLOR, not TERM=dumb. */
bool term_colours(int fd);

/* True for a terminal that can redraw lines in place. */
bool term_redraws(int fd);

/* Columns and lines of a terminal. `otherwise` if fd is no terminal, or its size is not known. */
int term_width(int fd, int otherwise);
int term_height(int fd, int otherwise);

/* Escape sequences, "" without colours. */
#define TERM_BOLD "\033[1m"
#define TERM_DIM "\033[2m"
#define TERM_RED "\033[31m"
#define TERM_GREEN "\033[32m"
#define TERM_YELLOW "\033[33m"
#define TERM_CYAN "\033[36m"
#define TERM_RESET "\033[0m"

static inline const char *term_style(bool colours, const char *sequence)
{
	return colours ? sequence : "";
}

/* Columns that UTF-8 text takes, counting wide characters as two and combining ones as none. */
int term_columns(const char *s);

/* Raises each width to the columns of its cell. */
void term_widen(int *widths, const char *const *cells, int n);

/*
 * Appends s on one line of at most `columns`. Line ends and tabs become spaces. Other control
 * characters and invalid bytes are escaped. A longer text ends with "...".
 */
void term_add_line(struct buf *out, const char *s, int columns);

/* Makes a cell of a table from s, as term_add_line() does. Heap. */
char *term_cell(const char *s, int columns);

/* Appends spaces up to `columns` after a text that took `used`. */
void term_add_pad(struct buf *out, int used, int columns);

/*
 * Appends s, broken at spaces into lines of `width`. The first line begins at column `indent`, and
 * the others with `indent` spaces.
 */
void term_add_wrapped(struct buf *out, const char *s, int indent, int width);

#endif
