/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MULTILINE_H
#define ENV_MULTILINE_H

#include <stddef.h>

/*
 * Commands whose text follows on lines of its own, up to a word:
 *
 *   edit 3:5
 *   the new text
 *   end_of_edit
 *
 * For a shell that is a here-document, as if `<< 'end_of_edit'` stood behind the first line.
 */
struct multiline {
	const char *name, *end;
};

/* The action as a shell reads it, a heap string; NULL if it has no such command. One that has a
 * redirection of its own, or whose word never comes, stays as it is. */
char *multiline_quote(const char *text, const struct multiline *commands, size_t n);

/* The word that ends the text of a command on this line, which follows on further lines; NULL: none does. */
const char *multiline_end(const char *line, const struct multiline *commands, size_t n);

#endif
