/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_COMPLETION_H
#define MODEL_COMPLETION_H

#include "base/buf.h"

#include <stddef.h>

/* Appends names of files that begin with `start`, one on a line. A folder's name ends with a
 * slash. */
typedef void names_of(void *user, const char *start, struct buf *out);

struct completion_source {
	const char *const *words; /* choices for a command's first word */
	size_t n_words;
	names_of *names; /* choices for other words; NULL: none */
	void *user;
};

/*
 * Completion of the word before the cursor, as a shell reads a line. `insert` is the text that all
 * choices share after the cursor, quoted. A space follows if there is one choice. If they share
 * nothing, `list` shows the choices. Both are empty if there are none.
 */
struct completion {
	struct buf insert, list;
};

void completion_find(const struct completion_source *source, const char *line, size_t cursor,
		struct completion *out);
void completion_release(struct completion *c);

#endif
