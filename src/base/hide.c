/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hide.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define ESCAPES_MAX 16 /* bytes before a character: of four decodings */

/* The byte that n digits of hexadecimal say; negative: they say none. */
static int hide_hex_byte(const char *at, const char *end, int n)
{
	unsigned value = 0;

	if (end - at < n)
		return -1;
	for (int i = 0; i < n; i++) {
		if (!isxdigit((unsigned char)at[i]))
			return -1;
		value = value * 16 +
				(unsigned)(isdigit((unsigned char)at[i]) ? at[i] - '0'
									 : (at[i] | 32) - 'a' + 10);
	}
	return value <= UINT8_MAX ? (int)value : -1;
}

/* How many bytes at `at` say c as text or in JSON, escaped so often that some reader's next decoding gives it;
 * 0: they say something else. */
static size_t hide_match_json(const char *at, const char *end, char c)
{
	const char *p = at;

	while (p < end && p - at < ESCAPES_MAX && *p == '\\' && c != '\\')
		p++;
	if (p < end && *p == c)
		return (size_t)(p - at) + 1;
	if (p == at || p == end || *p != 'u' || hide_hex_byte(p + 1, end, 4) != (unsigned char)c)
		return 0;
	return (size_t)(p - at) + 5;
}

/* The same in an address or a form: %2F, or %252F where that was encoded again. */
static size_t hide_match_url(const char *at, const char *end, char c)
{
	const char *p = at + 1;

	if (*at != '%')
		return *at == c;
	while (hide_hex_byte(p, end, 2) == '%' && p - at < ESCAPES_MAX)
		p += 2;
	if (hide_hex_byte(p, end, 2) == (unsigned char)c)
		return (size_t)(p - at) + 2;
	return c == '%' && p > at + 1 ? (size_t)(p - at) : 0;
}

static size_t hide_match(const char *at, const char *end, const char *secret,
		size_t (*says)(const char *at, const char *end, char c))
{
	const char *p = at;

	for (; *secret; secret++) {
		size_t n = p < end ? says(p, end, *secret) : 0;

		if (!n)
			return 0;
		p += n;
	}
	return (size_t)(p - at);
}

/* 0: no secret begins here. */
static size_t hide_find(const char *at, const char *end, const char *secret)
{
	size_t n;

	if (*at != *secret && *at != '\\' && *at != '%')
		return 0;
	n = hide_match(at, end, secret, hide_match_json);
	return n ? n : hide_match(at, end, secret, hide_match_url);
}

/* The text gets shorter, so it stays where it is; returns how long it is then. */
static size_t hide_bytes(char *text, size_t n, const char *secret, size_t least)
{
	static const char shown[] = "[key]";
	char *to = text;
	const char *at = text, *end = text ? text + n : NULL;

	_Static_assert(sizeof(shown) - 1 <= HIDE_COMPLAINT_BYTES_MIN, "what is shown is no longer");
	if (!text || !secret || strlen(secret) < least)
		return n;
	while (at < end) {
		size_t said = hide_find(at, end, secret);

		if (said) {
			memcpy(to, shown, sizeof(shown) - 1);
			to += sizeof(shown) - 1;
			at += said;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	return (size_t)(to - text);
}

void hide_secret(struct buf *text, const char *secret)
{
	text->len = hide_bytes(text->data, text->len, secret, HIDE_BYTES_MIN);
}

void hide_in_complaint(struct buf *text, const char *secret)
{
	text->len = hide_bytes(text->data, text->len, secret, HIDE_COMPLAINT_BYTES_MIN);
}

void hide_in_text(char *text, const char *secret)
{
	hide_bytes(text, text ? strlen(text) : 0, secret, HIDE_BYTES_MIN);
}
