/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_COMPLETION_H
#define MODEL_COMPLETION_H

#include "base/buf.h"

#include <stddef.h>

/* Callback that lists files: appends the names that begin with `start`, each with a newline. A
 * folder's name ends with a slash. */
typedef void names_of(void *user, const char *start, struct buf *out);

struct completion_source {
	const char *const *words; /* completions of the first word of a command */
	size_t n_words;
	/* function that finds file names for other words of a command, and for words with a "/";
	 * NULL: none */
	names_of *names;
	void *user;
};

/*
 * Result of completing the word before the cursor in a shell command. `insert` is the quoted text
 * to insert: the letters that follow the word in all choices. If there is a single choice, and it
 * is not a folder, a space is added. If nothing can be inserted, `list` shows the choices. Both are
 * empty if there are no choices.
 */
struct completion {
	struct buf insert, list;
};

void completion_find(const struct completion_source *source, const char *line, size_t cursor,
		struct completion *out);
void completion_release(struct completion *c);

#endif
