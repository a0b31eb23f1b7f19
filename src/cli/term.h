/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "base/buf.h"

#include <stdbool.h>

/* What a terminal can do, and text that fits it. */

/* True for a terminal that takes colours: not with NO_COLOR, not TERM=dumb. */
bool term_colours(int fd);

/* True for a terminal on which a line can be drawn again in place. */
bool term_redraws(int fd);

/* Columns; `otherwise` when fd is no terminal or doesn't know. */
int term_width(int fd, int otherwise);

/* Lines; `otherwise` likewise. */
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

/* Widens the columns of a table to a row of n cells. */
void term_widen(int *widths, const char *const *cells, int n);

/*
 * Appends s on one line of at most `columns`: line ends and tabs become a space, other control
 * characters and invalid bytes are escaped, and what does not fit is cut with "...".
 */
void term_add_line(struct buf *out, const char *s, int columns);

/* Appends spaces up to `columns` after a text that took `used`. */
void term_add_pad(struct buf *out, int used, int columns);

/* Appends s broken at spaces to lines of `width`; each line after the first begins with `indent`
 * spaces, and the first is taken to begin at column `indent`. */
void term_add_wrapped(struct buf *out, const char *s, int indent, int width);

#endif
