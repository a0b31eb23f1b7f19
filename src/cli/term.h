/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "base/buf.h"

#include <stdbool.h>

/* Abilities of terminals, and text that fits their lines. */

/* True for a terminal that shows colours. False with NO_COLOR or TERM=dumb. */
bool term_colours(int fd);

/* True for a terminal that can redraw lines in place. */
bool term_redraws(int fd);

/* Width and height of a terminal in characters. `otherwise` if fd is not a terminal, or its size is
 * unknown. */
int term_width(int fd, int otherwise);
int term_height(int fd, int otherwise);

/* Escape sequences for colours. term_style() gives "" instead if colours are off. */
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

/* Number of columns that UTF-8 text takes. Wide characters count as two, and combining ones as
 * none. */
int term_columns(const char *s);

/* Raises each column's width to that of the row's cell. */
void term_widen(int *widths, const char *const *cells, int n);

/*
 * Appends s as one line of at most `columns`. Ends of lines and tabs become spaces. Other control
 * characters and invalid bytes are escaped. A longer text is cut, and ends with "...".
 */
void term_add_line(struct buf *out, const char *s, int columns);

/* Number of bytes of s, a printable text, that fit into `columns`. They end with a whole word, or
 * a whole part of a name like "a/b-c:d". If not even the first one fits, it is cut. */
size_t term_fit_words(const char *s, int columns);

/* Makes a table's cell from s, as one line like term_add_line(). A heap string. */
char *term_cell(const char *s, int columns);

/* Appends spaces after a text of `used` columns, up to `columns`. */
void term_add_pad(struct buf *out, int used, int columns);

/*
 * Appends s, broken at spaces into lines of `width` columns. The first line begins at column
 * `indent`. All others get `indent` spaces.
 */
void term_add_wrapped(struct buf *out, const char *s, int indent, int width);

#endif
