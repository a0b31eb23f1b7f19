/* SPDX-License-Identifier: Apache-2.0 */
#include "model/completion.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define COMPLETION_NAMES_BYTES_MAX 65536
#define CHOICES_MAX 4096
#define WORD_BYTES_MAX 4096

struct choices {
	const char *items[CHOICES_MAX];
	size_t n;
	struct buf names; /* memory of the choices for completion, if they are file names */
};

/* --- the word --------------------------------------------------------------------------------- */

/* Returns true for a character that ends a word of a shell command. A backslash before the
 * character makes it part of the word. */
static bool completion_is_end(const char *line, const char *at)
{
	return strchr(" \t;|&(<>=", *at) && (at == line || at[-1] != '\\');
}

static bool completion_is_command(const char *line, const char *start)
{
	while (start > line && (start[-1] == ' ' || start[-1] == '\t'))
		start--;
	return start == line || strchr(";|&(", start[-1]);
}

static void completion_add_unquoted(struct buf *out, const char *word, const char *end)
{
	for (; word < end; word++)
		if (*word != '\\' || ++word < end)
			buf_add_char(out, *word);
}

static void completion_add_quoted(struct buf *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strchr(" \t\\'\"`$&|;<>()*?[]{}!#~=", text[i]))
			buf_add_char(out, '\\');
		buf_add_char(out, text[i]);
	}
}

/* --- choices ---------------------------------------------------------------------------------- */

static void completion_add_choice(struct choices *c, const char *item, const char *start)
{
	if (c->n < CHOICES_MAX && str_starts(item, start))
		c->items[c->n++] = item;
}

/*
 * False for a file name that is empty or has control characters: printing them could send commands
 * to the terminal.
 */
static bool completion_is_plain(const char *name)
{
	size_t n = 0;

	while ((unsigned char)name[n] >= ' ' && name[n] != 127)
		n++;
	return n && !name[n];
}

static void completion_add_names(
		struct choices *c, const struct completion_source *source, const char *start)
{
	char *at;

	if (!source->names)
		return;
	source->names(source->user, start, &c->names);
	for (at = c->names.data; at && *at;) {
		char *end = strchr(at, '\n');

		if (!end) /* the last file name is incomplete, because the buffer is full */
			return;
		*end = '\0';
		if (completion_is_plain(at))
			completion_add_choice(c, at, start);
		at = end + 1;
	}
}

static size_t completion_common(const struct choices *c)
{
	size_t n = c->n ? strlen(c->items[0]) : 0;

	for (size_t i = 1; i < c->n; i++) {
		size_t same = 0;

		while (same < n && c->items[i][same] == c->items[0][same])
			same++;
		n = same;
	}
	while (n && c->n > 1 && ((unsigned char)c->items[0][n] & 0xc0) == 0x80)
		n--; /* don't cut the common start of the choices within a UTF-8 character */
	return n;
}

static int completion_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the part of a path that the list of choices shows: the last name, with a folder's
 * slash. */
static const char *completion_shown(const char *item)
{
	const char *at = item + strlen(item);

	while (at > item && (at[-1] != '/' || !*at))
		at--;
	return at;
}

static void completion_decide(const struct choices *c, size_t n_start, struct completion *out)
{
	size_t n = completion_common(c);

	if (n > n_start)
		completion_add_quoted(&out->insert, c->items[0] + n_start, n - n_start);
	if (c->n == 1 && c->items[0][n - 1] != '/')
		buf_add_char(&out->insert, ' ');
	for (size_t i = 0; i < c->n && !out->insert.len; i++)
		buf_printf(&out->list, "%s  ", completion_shown(c->items[i]));
}

void completion_find(const struct completion_source *source, const char *line, size_t cursor,
		struct completion *out)
{
	const char *end = line + cursor, *start = end;
	auto_buf struct buf word = BUF_INIT(WORD_BYTES_MAX);
	auto_free struct choices *c = xcalloc(1, sizeof(*c));

	*out = (struct completion){ .insert = BUF_INIT(2UL * WORD_BYTES_MAX),
		.list = BUF_INIT(COMPLETION_NAMES_BYTES_MAX) };
	buf_init(&c->names, COMPLETION_NAMES_BYTES_MAX);
	while (start > line && !completion_is_end(line, start - 1))
		start--;
	completion_add_unquoted(&word, start, end);
	if (!completion_is_command(line, start) || strchr(buf_str(&word), '/'))
		completion_add_names(c, source, buf_str(&word));
	else
		for (size_t i = 0; i < source->n_words; i++)
			completion_add_choice(c, source->words[i], buf_str(&word));
	qsort(c->items, c->n, sizeof(*c->items), completion_by_name);
	if (!word.truncated)
		completion_decide(c, word.len, out);
	buf_release(&c->names);
}

void completion_release(struct completion *c)
{
	buf_release(&c->insert);
	buf_release(&c->list);
}
