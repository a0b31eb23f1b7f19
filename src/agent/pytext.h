/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PYTEXT_H
#define AGENT_PYTEXT_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text as Python's str sees it, since MLGym's formats are defined by its methods. All of it is UTF-8. */

/* Bytes of white space that s begins with, n at most; a NUL ends it. */
size_t pytext_spaces(const char *s, size_t n);

/* str.strip(), str.rstrip(), as a new string. */
char *pytext_strip(struct arena *a, const char *s, size_t n);
char *pytext_rstrip(struct arena *a, const char *s, size_t n);

/* len(str.splitlines()) */
size_t pytext_count_lines(const char *s);

/* str.split()[0]; *out_n 0 if there is no word. What follows the word is not looked at. */
const char *pytext_first_word(const char *s, size_t *out_n);

/* shlex.quote() */
void pytext_add_quoted(struct buf *out, const char *s);

#endif
