/* SPDX-License-Identifier: Apache-2.0 */
#include "model/lenient.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE 6 /* length of an escape \uNNNN in characters */
#define UNKNOWN "\\ufffd"

/*
 * Returns the number of the JSON escape \uNNNN at `text`, a UTF-16 code unit. Negative if there is
 * none.
 */
static long lenient_unit(const char *text, size_t n)
{
	char digits[5] = "";

	if (n < ESCAPE || text[0] != '\\' || text[1] != 'u')
		return -1;
	memcpy(digits, text + 2, 4);
	for (int i = 0; i < 4; i++)
		if (!isxdigit((unsigned char)digits[i]))
			return -1;
	return strtol(digits, NULL, 16);
}

/* Appends the character of the JSON escape at `text`, or U+FFFD in place of half a surrogate pair.
 * Returns the number of bytes read from `text`. */
static size_t lenient_mend_escape(struct buf *out, const char *text, size_t n)
{
	long unit = lenient_unit(text, n), next = -1;
	size_t whole = unit < 0 ? 2 : ESCAPE;

	if (unit >= 0xd800 && unit < 0xdc00)
		next = lenient_unit(text + ESCAPE, n - ESCAPE);
	if (next >= 0xdc00 && next < 0xe000)
		whole = 2 * ESCAPE;
	else if (unit >= 0xd800 && unit < 0xe000) {
		buf_add_str(out, UNKNOWN);
		return ESCAPE;
	}
	whole = whole < n ? whole : n;
	buf_add(out, text, whole);
	return whole;
}

int lenient_json(const char *what, const char *text, size_t n, json_t **out, struct fh_error *err)
{
	auto_buf struct buf mended = BUF_INIT(ESCAPE * n);

	if (json_parse(what, text, n, out, err) == 0)
		return 0;
	for (size_t i = 0; i < n;) {
		size_t length = str_utf8_length(text + i, n - i);

		if (text[i] == '\\') {
			i += lenient_mend_escape(&mended, text + i, n - i);
			continue;
		}
		if (length)
			buf_add(&mended, text + i, length);
		else
			buf_add_str(&mended, UNKNOWN);
		i += length ? length : 1;
	}
	return json_parse(what, buf_str(&mended), mended.len, out, err);
}
