/* SPDX-License-Identifier: Apache-2.0 */
#include "env/multiline.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <string.h>

#define BLANKS " \t\r"
#define ADDED_BYTES_MAX (1 << 20) /* to an action: a shell takes that, and more */
#define TRIES_MAX 64              /* for ends that are nowhere: each reads the whole rest */

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

/* A line that is a word and nothing more, but for blanks. */
struct end {
	const char *word;
	size_t n;
	const char *before, *behind; /* these blanks */
};

/* The line, from `at` on; NULL if there is none, which costs a try, or no try is left. */
static const char *find_end(const char *at, const struct end *end, int *tries)
{
	if (*tries == 0)
		return NULL;
	for (; *at; at = next_line(at)) {
		const char *text = at + strspn(at, end->before);

		if (strncmp(text, end->word, end->n) == 0 &&
				strchr("\n", text[end->n + strspn(text + end->n, end->behind)]))
			return at;
	}
	(*tries)--;
	return NULL;
}

/* The word is put behind the name, where neither `; validate` nor a comment comes between. */
static const char *quote(struct buf *out, const char *at, const char *end_line,
		const struct multiline *command)
{
	size_t name = strspn(at, BLANKS) + strlen(command->name), first = strcspn(at, "\n");

	while (first && strchr(BLANKS, at[first - 1]))
		first--;
	buf_add(out, at, name);
	buf_printf(out, " << '%s'", command->end);
	buf_add(out, at + name, first - name);
	buf_add_char(out, '\n');
	at = next_line(at);
	buf_add(out, at, (size_t)(end_line - at));
	buf_printf(out, "%s\n", command->end);
	return next_line(end_line);
}

/* --- here-documents of the agent's own ---------------------------------------------------------- */

/* What ends the here-document that `<<` begins, before `at`; no word: none. */
static struct end end_of_here_document(const char *at)
{
	at += strspn(at, "-");
	at += strspn(at, " \t");
	at += strspn(at, "'\"\\");
	return (struct end){ at, strcspn(at, "'\"\\<>|&;()" BLANKS "\n"), "\t", "" };
}

/* Behind this line, and behind the here-documents that it begins: their text is text. */
static const char *next_command(const char *at, int *tries)
{
	const char *next = next_line(at), *stop = next;

	while ((at = memmem(at, (size_t)(stop - at), "<<", 2))) {
		struct end end = end_of_here_document(at += 2);
		const char *line = end.n ? find_end(next, &end, tries) : NULL;

		next = line ? next_line(line) : next; /* `1 << 2` has none */
	}
	return next;
}

/* --- the whole ------------------------------------------------------------------------------------ */

char *multiline_quote(const char *text, const struct multiline *commands, size_t n)
{
	auto_buf struct buf out = BUF_INIT(strlen(text) + ADDED_BYTES_MAX);
	int tries = TRIES_MAX;
	bool changed = false;

	for (const char *at = text; *at;) {
		const struct multiline *command = command_at(at, commands, n);
		const char *next, *line = NULL;

		if (command)
			line = find_end(next_line(at),
					&(struct end){ command->end, strlen(command->end), "",
							BLANKS },
					&tries);
		if (line) {
			at = quote(&out, at, line, command);
			changed = true;
			continue;
		}
		next = next_command(at, &tries);
		buf_add(&out, at, (size_t)(next - at));
		at = next;
	}
	return changed && !out.truncated ? buf_take(&out) : NULL;
}
