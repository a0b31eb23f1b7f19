/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_COMPLETION_H
#define MODEL_COMPLETION_H

#include "base/buf.h"

#include <stddef.h>

/* Who knows the names of files that begin so: appends lines, a folder's with a slash at its end. */
typedef void names_of(void *user, const char *start, struct buf *out);

struct completion_source {
	const char *const *words; /* of a command's first word */
	size_t n_words;
	names_of *names; /* of the others; NULL: nobody */
	void *user;
};

/*
 * What the word before the cursor may be, as a shell reads a line. `insert` is what all choices have in common from there
 * on (quoted, and followed by a space where it is whole), else `list` has the choices; both empty: there are none.
 */
struct completion {
	struct buf insert, list;
};

void completion_find(const struct completion_source *source, const char *line, size_t cursor,
		struct completion *out);
void completion_release(struct completion *c);

#endif
