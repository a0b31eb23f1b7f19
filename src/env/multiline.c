/* SPDX-License-Identifier: Apache-2.0 */
#include "env/multiline.h"

#include "base/buf.h"

#include <stdbool.h>
#include <string.h>

#define BLANKS " \t\r"
#define ADDED_BYTES_MAX (1 << 20) /* most bytes that quoting adds to an action */
/* Most searches for an end word that find none. Each such search reads the rest of the action. */
#define MULTILINE_TRIES_MAX 64

static const char *multiline_next_line(const char *at)
{
	at += strcspn(at, "\n");
	return *at ? at + 1 : at;
}

static const struct multiline *multiline_find_name(
		const char *word, const struct multiline *commands, size_t n)
{
	size_t length = strcspn(word, BLANKS "\n");

	for (size_t i = 0; i < n; i++)
		if (strlen(commands[i].name) == length &&
				strncmp(commands[i].name, word, length) == 0)
			return &commands[i];
	return NULL;
}

/* Returns the text after the next unquoted `;`, `&` or `|` characters of the line; NULL: none. */
static const char *multiline_next_on_line(const char *at)
{
	for (char quote = '\0'; *at && *at != '\n'; at++) {
		if (*at == '\\' && quote != '\'' && at[1] && at[1] != '\n')
			at++;
		else if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '\'' || *at == '"')
			quote = *at;
		else if (strchr(";&|", *at))
			return at + strspn(at, ";&|");
	}
	return NULL;
}

/*
 * Finds the first command of a line that takes a text from the next lines. *out_name is its
 * position. NULL: there is none, or the line has a here-document.
 */
static const struct multiline *multiline_command_on(
		const char *at, const struct multiline *commands, size_t n, const char **out_name)
{
	if (memmem(at, strcspn(at, "\n"), "<<", 2))
		return NULL;
	for (; at; at = multiline_next_on_line(at)) {
		const struct multiline *found =
				multiline_find_name(at + strspn(at, BLANKS), commands, n);

		*out_name = at + strspn(at, BLANKS);
		if (found)
			return found;
	}
	return NULL;
}

/* A line that ends a text: it holds only the end word, and blanks beside it. */
struct multiline_end {
	const char *word;
	size_t n;
	const char *before, *behind; /* characters that may come before and behind the word */
};

/* Finds the line that ends a command of many lines (end_of_edit), from `at` on. NULL: there is
 * none. At most *tries searches may find none; later ones return NULL at once. */
static const char *multiline_find_end(const char *at, const struct multiline_end *end, int *tries)
{
	if (*tries == 0)
		return NULL;
	for (; *at; at = multiline_next_line(at)) {
		const char *text = at + strspn(at, end->before);

		if (strncmp(text, end->word, end->n) == 0 &&
				strchr("\n", text[end->n + strspn(text + end->n, end->behind)]))
			return at;
	}
	(*tries)--;
	return NULL;
}

/*
 * Quotes a command's text. Puts `<< 'word'` right behind the name: at the line's end a comment
 * could swallow it.
 */
static const char *multiline_quote_one(struct buf *out, const char *at, const char *name_at,
		const char *end_line, const struct multiline *command)
{
	size_t name = (size_t)(name_at - at) + strlen(command->name), first = strcspn(at, "\n");

	while (first && strchr(BLANKS, at[first - 1]))
		first--;
	buf_add(out, at, name);
	buf_printf(out, " << '%s'", command->end);
	buf_add(out, at + name, first - name);
	buf_add_char(out, '\n');
	at = multiline_next_line(at);
	buf_add(out, at, (size_t)(end_line - at));
	buf_printf(out, "%s\n", command->end);
	return multiline_next_line(end_line);
}

/* --- here-documents of the agent's own ------------------------------------------------------- */

/*
 * Returns the end line of a here-document; `at` follows its `<<`. An empty word: it is no
 * here-document.
 */
static struct multiline_end multiline_end_of_here_document(const char *at)
{
	at += strspn(at, "-");
	at += strspn(at, " \t");
	at += strspn(at, "'\"\\");
	return (struct multiline_end){ at, strcspn(at, "'\"\\<>|&;()" BLANKS "\n"), "\t", "" };
}

/* Returns the line after this one and after its here-documents, which hold no commands. */
static const char *multiline_next_command(const char *at, int *tries)
{
	const char *next = multiline_next_line(at), *stop = next;

	while ((at = memmem(at, (size_t)(stop - at), "<<", 2))) {
		struct multiline_end end = multiline_end_of_here_document(at += 2);
		const char *line = end.n ? multiline_find_end(next, &end, tries) : NULL;

		/* `1 << 2` looks like a here-document, but has no end line */
		next = line ? multiline_next_line(line) : next;
	}
	return next;
}

/* --- the whole -------------------------------------------------------------------------------- */

char *multiline_quote(const char *text, const struct multiline *commands, size_t n)
{
	auto_buf struct buf out = BUF_INIT(strlen(text) + ADDED_BYTES_MAX);
	int tries = MULTILINE_TRIES_MAX;
	bool changed = false;

	for (const char *at = text; *at;) {
		const char *next, *name = NULL, *line = NULL;
		const struct multiline *command = multiline_command_on(at, commands, n, &name);

		if (command)
			line = multiline_find_end(multiline_next_line(at),
					&(struct multiline_end){ command->end, strlen(command->end),
							"", BLANKS },
					&tries);
		if (line) {
			at = multiline_quote_one(&out, at, name, line, command);
			changed = true;
			continue;
		}
		next = multiline_next_command(at, &tries);
		buf_add(&out, at, (size_t)(next - at));
		at = next;
	}
	return changed && !out.truncated ? buf_take(&out) : NULL;
}

const char *multiline_end(const char *line, const struct multiline *commands, size_t n)
{
	const char *name;
	const struct multiline *command = multiline_command_on(line, commands, n, &name);

	return command ? command->end : NULL;
}
