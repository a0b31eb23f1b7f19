/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"

#include "base/str.h"

#include <string.h>

/* The letter of a short JSON escape such as \n; 0: the character has no short escape. */
static char json_text_letter(uint32_t c)
{
	static const char letters[] = { ['\b'] = 'b',
		['\t'] = 't',
		['\n'] = 'n',
		['\f'] = 'f',
		['\r'] = 'r',
		['"'] = '"',
		['\\'] = '\\' };

	return c < sizeof(letters) ? letters[c] : '\0';
}

size_t json_text_bytes(const char *s)
{
	size_t bytes = 0, n = s ? strlen(s) : 0, length;

	for (size_t at = 0; at < n; at += length) {
		uint32_t c = str_utf8_decode(s + at, &length);

		bytes += json_text_letter(c) ? 2 : c >= 0x20 && c < 0x7f ? 1 : c < 0x10000 ? 6 : 12;
	}
	return bytes;
}

static void json_text_add_escape(struct buf *out, uint32_t c)
{
	char letter = json_text_letter(c);

	if (letter)
		buf_printf(out, "\\%c", letter);
	else if (c < 0x10000)
		buf_printf(out, "\\u%04x", c);
	else
		buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
				0xdc00 + ((c - 0x10000) & 0x3ff));
}

/* Length of the UTF-8 character at s in bytes; 0: s is not valid in this form. */
static size_t json_text_length(const char *s, size_t n, enum json_text_form form)
{
	size_t length = *s || form != JSON_TEXT_BYTES ? str_utf8_length(s, n) : 0;

	/* A lone surrogate has no UTF-8 form, only the escape \uNNNN. */
	if (!length && form == JSON_TEXT_ASCII && n >= 3 && s[0] == '\xed' &&
			(s[1] & 0xe0) == 0xa0 && (s[2] & 0xc0) == 0x80)
		return 3;
	return length;
}

void json_text_add(struct buf *out, const char *s, size_t n, enum json_text_form form)
{
	size_t begin = 0; /* start of the characters that were not appended yet */
	size_t length;

	buf_add_char(out, '"');
	for (size_t at = 0; at < n; at += length) {
		uint32_t c = '\\';

		length = json_text_length(s + at, n - at, form);
		if (length)
			c = str_utf8_decode(s + at, &length);
		if (c >= 0x20 && c != '"' && c != '\\' && !(form == JSON_TEXT_ASCII && c >= 0x7f))
			continue;
		buf_add(out, s + begin, at - begin);
		if (length) {
			json_text_add_escape(out, c);
		} else {
			buf_printf(out, "\\\\x%02x", (unsigned char)s[at]);
			length = 1;
		}
		begin = at + length;
	}
	buf_add(out, s + begin, n - begin);
	buf_add_char(out, '"');
}
