/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

#include "base/str.h"

#include <string.h>

/*
 * Output as MLGym shows it: lines as Python's str.splitlines() finds them, without empty ones and those of
 * progress bars, and without a newline at the end. Bytes that are no UTF-8 are \xNN.
 */

/* How many bytes of text end a line here; 0: none. "\r\n" is one end. */
static size_t line_end(const char *text, const char *end)
{
	static const char *const longer[] = { "\r\n", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };

	for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++) {
		size_t n = strlen(longer[i]);

		if ((size_t)(end - text) >= n && memcmp(text, longer[i], n) == 0)
			return n;
	}
	return *text && strchr("\n\r\v\f\x1c\x1d\x1e", *text) ? 1 : 0;
}

static const char *find(const char *at, const char *end, char c)
{
	return at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
}

/* Anywhere in it: digits, "%|", and after that "|", "[" and "]", as in "40%|####    | 4/10 [00:01]". What does
 * not follow the first "%|" follows no later one. */
static bool is_bar(const char *line, const char *end)
{
	const char *p = line;

	while ((p = find(p, end, '%')) &&
			!(p > line && p[-1] >= '0' && p[-1] <= '9' && p + 1 < end && p[1] == '|'))
		p++;
	p = p ? find(p + 2, end, '|') : NULL;
	p = p ? find(p + 1, end, '[') : NULL;
	return p && find(p + 1, end, ']');
}

void observe_mlgym_output(struct buf *out, const char *text, size_t n)
{
	const char *at = text, *end = text + n;
	bool first = true;

	while (at < end) {
		const char *line = at;
		size_t ending = 0;

		while (at < end && !(ending = line_end(at, end)))
			at++;
		if (at > line && !is_bar(line, at)) {
			if (!first)
				buf_add_char(out, '\n');
			buf_add(out, line, (size_t)(at - line));
			first = false;
		}
		at += ending;
	}
}
