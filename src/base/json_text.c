/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"

#include "base/str.h"

#include <string.h>

#define JSON_CHUNK_BYTES 4096
#define ESCAPE_BYTES_MAX 12 /* most bytes of an escaped character: \uNNNN twice */

/* True if every enum json_text_form writes this byte without an escape. */
static bool json_text_is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

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
	size_t bytes = 0;

	for (; s && *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (json_text_is_plain(c))
			bytes += 1;
		else if (json_text_letter(c))
			bytes += 2;
		else if (c < 0x80 || c >= 0xc0) /* bytes 0x80 to 0xbf continue a UTF-8 character */
			bytes += c < 0xf0 ? 6 : 12;
	}
	return bytes;
}

static char *json_text_put_unit(char *to, uint32_t c)
{
	static const char digits[] = "0123456789abcdef";

	*to++ = '\\';
	*to++ = 'u';
	*to++ = digits[c >> 12 & 0xf];
	*to++ = digits[c >> 8 & 0xf];
	*to++ = digits[c >> 4 & 0xf];
	*to++ = digits[c & 0xf];
	return to;
}

static char *json_text_put_escape(char *to, uint32_t c)
{
	char letter = json_text_letter(c);

	if (letter) {
		*to++ = '\\';
		*to++ = letter;
		return to;
	}
	if (c < 0x10000)
		return json_text_put_unit(to, c);
	to = json_text_put_unit(to, 0xd800 + ((c - 0x10000) >> 10));
	return json_text_put_unit(to, 0xdc00 + ((c - 0x10000) & 0x3ff));
}

/* Length in bytes of the UTF-8 character at s. 0: no such character is there, or its byte has to
 * become the text \xNN. */
static size_t json_text_length(const char *s, size_t n, enum json_text_form form)
{
	size_t length = 1;

	if (*s < 1) /* a NUL, or not ASCII */
		length = *s || form != JSON_TEXT_BYTES ? str_utf8_length(s, n) : 0;
	/* A lone surrogate has no UTF-8 form, only the escape \uNNNN. */
	if (!length && form == JSON_TEXT_ASCII && n >= 3 && s[0] == '\xed' &&
			(s[1] & 0xe0) == 0xa0 && (s[2] & 0xc0) == 0x80)
		return 3;
	return length;
}

/* Writes the character at s to `to`, escaped if necessary: at most ESCAPE_BYTES_MAX bytes. Returns
 * the end of the written bytes. *out_length is the number of bytes read from s. */
static char *json_text_put(
		char *to, const char *s, size_t n, enum json_text_form form, size_t *out_length)
{
	size_t length = json_text_length(s, n, form);
	uint32_t c;

	*out_length = length ? length : 1;
	if (!length) {
		*to++ = '\\';
		return str_put_hex(to, (unsigned char)*s);
	}
	c = length > 1 ? str_utf8_decode(s, &length) : (unsigned char)*s;
	if (c < 0x7f || form == JSON_TEXT_ASCII)
		return json_text_put_escape(to, c);
	memcpy(to, s, length);
	return to + length;
}

void json_text_add(struct buf *out, const char *s, size_t n, enum json_text_form form)
{
	char chunk[JSON_CHUNK_BYTES], *to = chunk;
	const char *const full = chunk + sizeof(chunk) - ESCAPE_BYTES_MAX;
	size_t length;

	buf_add_char(out, '"');
	for (size_t at = 0; at < n; at += length) {
		if (to > full) {
			buf_add(out, chunk, (size_t)(to - chunk));
			to = chunk;
		}
		length = 1;
		if (json_text_is_plain((unsigned char)s[at]))
			*to++ = s[at];
		else
			to = json_text_put(to, s + at, n - at, form, &length);
	}
	buf_add(out, chunk, (size_t)(to - chunk));
	buf_add_char(out, '"');
}
