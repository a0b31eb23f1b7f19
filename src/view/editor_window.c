/* SPDX-License-Identifier: Apache-2.0 */
#include "view/editor_window.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>

#define LINES_MAX 200000
#define HEAD "[File: "

/* --- actions ---------------------------------------------------------------------------------- */

/* Reads a number of at most nine digits. */
static bool window_number(const char **at, const char *end, size_t *out)
{
	const char *p = *at;
	size_t n = 0;

	while (p < end && p < *at + 9 && *p >= '0' && *p <= '9')
		n = n * 10 + (size_t)(*p++ - '0');
	if (p == *at)
		return false;
	*at = p;
	*out = n;
	return true;
}

static bool window_word(struct run_text action, const char *word)
{
	size_t n = strlen(word);

	return action.n >= n && memcmp(action.text, word, n) == 0 &&
			(action.n == n || strchr(" \t\n", action.text[n]));
}

/* Finds the lines of an `edit` after its first line and before the line `last`. */
static bool window_edit_text(struct run_text action, const char *last, struct run_text *out)
{
	const char *end = action.text + action.n;
	const char *line = memchr(action.text, '\n', action.n);
	size_t n = strlen(last);

	if (!line)
		return false;
	out->text = ++line;
	while (line <= end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *stop = newline ? newline : end;

		if ((size_t)(stop - line) == n && memcmp(line, last, n) == 0) {
			out->n = (size_t)(line - out->text);
			return true;
		}
		line = stop + 1;
	}
	return false;
}

static bool window_edit_range(struct run_text action, struct window_edit *e)
{
	const char *at = action.text, *end = at + action.n;
	bool inserts = window_word(action, "insert");
	size_t first = 0, last = 0;

	at += strlen(inserts ? "insert" : "edit");
	while (at < end && (*at == ' ' || *at == '\t' || *at == '"'))
		at++;
	if (!window_number(&at, end, &first))
		return false;
	e->keep = e->resume = first;
	if (inserts)
		return window_edit_text(action, "end_of_insert", &e->text);
	if (at == end || *at++ != ':' || !window_number(&at, end, &last) || !first)
		return false;
	e->keep = first - 1;
	e->resume = last;
	return window_edit_text(action, "end_of_edit", &e->text);
}

bool window_is_editor(struct run_text action, struct window_edit *out)
{
	static const char *const others[] = { "open", "goto", "scroll_up", "scroll_down",
		"set_cursors" };
	struct window_edit e = { 0 };
	bool found = false;

	while (action.n && strchr(" \t\n", *action.text)) {
		action.text++;
		action.n--;
	}
	e.is_create = window_word(action, "create");
	e.is_edit = window_word(action, "edit") || window_word(action, "insert");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		found |= window_word(action, others[i]);
	if (!found && !e.is_create && !e.is_edit)
		return false;
	/* An edit that can't be read changed nothing, or showed what it did. */
	if (e.is_edit && !window_edit_range(action, &e))
		e.text = (struct run_text){ "", 0 };
	*out = e;
	return true;
}

/* --- observations ----------------------------------------------------------------------------- */

static const char *window_line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline : end;
}

/* Reads "[File: PATH (N lines total)]". The path may have any characters. */
static bool window_head(struct arena *a, const char *line, const char *stop, struct window *out)
{
	static const char tail[] = " lines total)]";
	const char *at, *count;

	if ((size_t)(stop - line) < sizeof(HEAD) + sizeof(tail) ||
			memcmp(line, HEAD, strlen(HEAD)) != 0 ||
			memcmp(stop - strlen(tail), tail, strlen(tail)) != 0)
		return false;
	count = memrchr(line, '(', (size_t)(stop - line));
	if (!count || count - line < (ssize_t)sizeof(HEAD))
		return false;
	at = count + 1;
	if (!window_number(&at, stop, &out->total) || at != stop - strlen(tail) ||
			out->total > LINES_MAX)
		return false;
	line += strlen(HEAD);
	out->path = arena_strndup(a, line, (size_t)(count - 1 - line));
	return true;
}

/* Reads a line "N:text", which has the given number unless that is 0. */
static bool window_line(const char *line, const char *stop, size_t wanted, size_t *out_number,
		struct rebuilt_line *out)
{
	const char *at = line;

	if (!window_number(&at, stop, out_number) || at == stop || *at != ':' || !*out_number)
		return false;
	if (wanted && *out_number != wanted)
		return false;
	at++;
	*out = (struct rebuilt_line){ at, (uint32_t)(stop - at), true };
	return true;
}

static void window_lines(struct arena *a, const char *at, const char *end, struct window *w)
{
	struct rebuilt_line *lines = NULL, line;
	size_t number = 0;

	if (at < end && *at == '(') /* "(N more lines above)" */
		at = window_line_end(at, end) + 1;
	while (at < end && w->n < w->total - w->first) {
		const char *stop = window_line_end(at, end);

		if (!window_line(at, stop, w->n ? w->first + w->n + 1 : 0, &number, &line) ||
				number > w->total)
			return;
		if (!w->n)
			w->first = number - 1;
		w->lines = lines = arena_grow(a, lines, w->n, sizeof(*lines));
		lines[w->n++] = line;
		at = stop + 1;
	}
	/* A last line may be cut if lines follow that are not shown. */
	if (at >= end && w->n && w->first + w->n < w->total)
		w->n--;
}

bool window_read(struct arena *a, struct run_text seen, struct window *out, bool *out_first)
{
	const char *end = seen.text + seen.n;
	struct window w = { 0 };

	for (const char *line = seen.text; line < end;) {
		const char *stop = window_line_end(line, end);

		if (window_head(a, line, stop, &w)) {
			*out_first = line == seen.text;
			window_lines(a, stop < end ? stop + 1 : end, end, &w);
			*out = w;
			return true;
		}
		line = stop + 1;
	}
	return false;
}
