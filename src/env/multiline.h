/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MULTILINE_H
#define ENV_MULTILINE_H

#include <stddef.h>

/*
 * Commands that take a text from the lines after them, up to a line with an end word:
 *
 *   edit 3:5
 *   the new text
 *   end_of_edit
 *
 * They are quoted as here-documents, as if `<< 'end_of_edit'` stood in the first line.
 */
struct multiline {
	const char *name, *end;
};

/*
 * Returns the action with its commands' texts quoted (heap). NULL: no command in it takes a text. A
 * command stays as it is if its line has a here-document or its end word never comes.
 */
char *multiline_quote(const char *text, const struct multiline *commands, size_t n);

/*
 * Returns the end word if a command on this line takes a text from the next lines. NULL: the line
 * is complete.
 */
const char *multiline_end(const char *line, const struct multiline *commands, size_t n);

#endif
