/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pytext.h"

#include "base/str.h"

#include <string.h>

/* Decodes the UTF-8 character at s. An invalid byte gives U+FFFD. */
static uint32_t pytext_character(const char *s, size_t n, size_t *out_length)
{
	if (str_utf8_length(s, n))
		return str_utf8_decode(s, out_length);
	*out_length = 1;
	return 0xfffd;
}

size_t pytext_spaces(const char *s, size_t n)
{
	size_t at = 0, length;

	while (at < n && s[at] && str_is_space(pytext_character(s + at, n - at, &length)))
		at += length;
	return at;
}

char *pytext_strip(struct arena *a, const char *s, size_t n)
{
	size_t begin = pytext_spaces(s, n), end = begin, at = begin, length;

	while (at < n) {
		bool space = str_is_space(pytext_character(s + at, n - at, &length));

		at += length;
		if (!space)
			end = at;
	}
	return arena_strndup(a, s + begin, end - begin);
}

size_t pytext_count_lines(const char *s)
{
	size_t n = strlen(s), lines = 0, length;
	bool open = false;

	for (size_t at = 0; at < n; at += length) {
		uint32_t c = pytext_character(s + at, n - at, &length);

		if (c == '\r' && at + 1 < n && s[at + 1] == '\n')
			length = 2;
		/* Ends of lines by
		 * https://docs.python.org/3/library/stdtypes.html#str.splitlines */
		open = !((c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 ||
				c == 0x2028 || c == 0x2029);
		lines += !open;
	}
	return lines + open;
}

const char *pytext_first_word(const char *s, size_t *out_n)
{
	size_t begin = pytext_spaces(s, SIZE_MAX), at = begin, length;

	/* SIZE_MAX instead of the text's length: pytext_character() does not read past a NUL. */
	while (s[at] && !str_is_space(pytext_character(s + at, SIZE_MAX, &length)))
		at += length;
	*out_n = at - begin;
	return s + begin;
}

void pytext_add_quoted(struct buf *out, const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_@%+=:,./-";

	if (*s && !s[strspn(s, safe)]) {
		buf_add_str(out, s);
		return;
	}
	buf_add_char(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_add_str(out, "'\"'\"'");
		else
			buf_add_char(out, *s);
	}
	buf_add_char(out, '\'');
}
