/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PYTEXT_H
#define AGENT_PYTEXT_H

#include "base/arena.h"
#include "base/buf.h"

#include <stddef.h>

/* Methods of Python's str for text in UTF-8. MLGym's formats depend on them. */

/* Counts the bytes of white space at the start of s. Looks at n bytes at most, and stops at a
 * NUL. */
size_t pytext_spaces(const char *s, size_t n);

/* Does what Python's str.strip() does. The result is a new string in the arena. */
char *pytext_strip(struct arena *a, const char *s, size_t n);

/* Returns the number of lines, as Python's len(s.splitlines()) does. */
size_t pytext_count_lines(const char *s);

/* Finds the first word, as Python's s.split()[0] does. *out_n is its length, or 0 if there is no
 * word. Reads no further than the word. */
const char *pytext_first_word(const char *s, size_t *out_n);

/* Appends s quoted for the shell, as shlex.quote() does. */
void pytext_add_quoted(struct buf *out, const char *s);

#endif
