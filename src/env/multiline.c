/* SPDX-License-Identifier: Apache-2.0 */
#include "env/multiline.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <string.h>

#define BLANKS " \t\r"
#define ADDED_BYTES_MAX (1 << 20) /* to an action, which has a cap itself */

/* What the line at `at` begins; NULL if it is another, or has its text already. */
static const struct multiline *command_at(
		const char *at, const struct multiline *commands, size_t n)
{
	const char *word = at + strspn(at, BLANKS);
	size_t length = strcspn(word, BLANKS "\n"), line = strcspn(at, "\n");

	if (memmem(at, line, "<<", 2))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strlen(commands[i].name) == length &&
				strncmp(commands[i].name, word, length) == 0)
			return &commands[i];
	return NULL;
}

static const char *next_line(const char *at)
{
	at += strcspn(at, "\n");
	return *at ? at + 1 : at;
}

/* The line that is `end` and nothing more, from `at` on; NULL if there is none. */
static const char *find_end(const char *at, const char *end)
{
	size_t n = strlen(end);

	for (; *at; at = next_line(at))
		if (strncmp(at, end, n) == 0 && strchr("\n", at[n + strspn(at + n, BLANKS)]))
			return at;
	return NULL;
}

static const char *quote(struct buf *out, const char *at, const char *end_line, const char *end)
{
	size_t first = strcspn(at, "\n");

	while (first && strchr(BLANKS, at[first - 1]))
		first--;
	buf_add(out, at, first);
	buf_printf(out, " << '%s'\n", end);
	at = next_line(at);
	buf_add(out, at, (size_t)(end_line - at));
	buf_printf(out, "%s\n", end);
	return next_line(end_line);
}

char *multiline_quote(const char *text, const struct multiline *commands, size_t n)
{
	auto_buf struct buf out = BUF_INIT(strlen(text) + ADDED_BYTES_MAX);
	bool changed = false;

	for (const char *at = text; *at;) {
		const struct multiline *command = command_at(at, commands, n);
		const char *end = command ? find_end(next_line(at), command->end) : NULL;
		const char *next = next_line(at);

		if (end) {
			at = quote(&out, at, end, command->end);
			changed = true;
			continue;
		}
		buf_add(&out, at, (size_t)(next - at));
		at = next;
	}
	return changed ? buf_take(&out) : NULL;
}
