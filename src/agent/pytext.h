/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PYTEXT_H
#define AGENT_PYTEXT_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Methods of Python's str, which define MLGym's formats, for text in UTF-8. */

/* Number of bytes of white space at the start of s, at most n; a NUL ends it. */
size_t pytext_spaces(const char *s, size_t n);

/* str.strip(), str.rstrip(), as a new string. */
char *pytext_strip(struct arena *a, const char *s, size_t n);
char *pytext_rstrip(struct arena *a, const char *s, size_t n);

/* len(str.splitlines()) */
size_t pytext_count_lines(const char *s);

/* str.split()[0]. *out_n is 0 if there is no word. Reads no further than the word. */
const char *pytext_first_word(const char *s, size_t *out_n);

/* shlex.quote() */
void pytext_add_quoted(struct buf *out, const char *s);

#endif
