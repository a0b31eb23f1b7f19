/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hide.h"

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* most bytes that repeated escaping puts before a character: enough for four levels of escaping */
#define ESCAPES_MAX 16

/* Decodes n hexadecimal digits. -1: digits are missing, or the number exceeds a byte. */
static int hide_hex_byte(const char *at, const char *end, int n)
{
	int value = 0;

	if (end - at < n)
		return -1;
	for (int i = 0; i < n; i++) {
		int digit = str_hex_digit(at[i]);

		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value <= UINT8_MAX ? value : -1;
}

/* Length of the character c at `at`, plain or escaped as in JSON, once or repeatedly. 0: `at` has
 * another character. */
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

/* Length of the character c at `at`, plain or escaped as in URLs: %2F, or %252F if escaped twice.
 * 0: `at` has another character. */
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
		size_t n;

		if (p == end)
			return 0;
		if (*p != '\\' && *p != '%') /* no escape begins here */
			n = *p == *secret;
		else
			n = says(p, end, *secret);
		if (!n)
			return 0;
		p += n;
	}
	return (size_t)(p - at);
}

/* Finds the next byte with which a secret may begin: its first character, or the first byte of an
 * escape. Skips most escapes of other characters, such as \x00. */
static const char *hide_next(const char *at, const char *end, char first)
{
	for (; at < end; at++) {
		if (*at == first || *at == '%')
			break;
		if (*at == '\\' &&
				(at + 1 == end || at[1] == '\\' || at[1] == 'u' || at[1] == first))
			break;
	}
	return at;
}

/* True if the escape at `at` may stand for the character c. *run_end is the end of the last run of
 * backslashes that was scanned. Later calls skip that run, so that long runs take linear time. */
static bool hide_may_escape(const char *at, const char *end, char c, const char **run_end)
{
	const char *p = at > *run_end ? at : *run_end;
	int value;

	if (c == '\\' || c == '%')
		return true;
	if (*at == '%') {
		value = hide_hex_byte(at + 1, end, 2);
		return value == '%' || value == (unsigned char)c;
	}
	while (p < end && *p == '\\')
		p++;
	*run_end = p;
	return p - at <= ESCAPES_MAX && p < end && (*p == c || *p == 'u');
}

/* Length of the secret that begins at `at`, escaped or not; 0: no secret begins there. */
static size_t hide_find(const char *at, const char *end, const char *secret)
{
	size_t n = hide_match(at, end, secret, hide_match_json);

	return n ? n : hide_match(at, end, secret, hide_match_url);
}

/* Hides the secret in place, because "[key]" is never longer. Returns the new length of the
 * text. */
static size_t hide_bytes(char *text, size_t n, const char *secret, size_t least)
{
	static const char shown[] = "[key]";
	char *to = text;
	const char *at = text, *end = text ? text + n : NULL, *run_end = text;

	_Static_assert(sizeof(shown) - 1 <= HIDE_COMPLAINT_BYTES_MIN, "what is shown is no longer");
	if (!text || !secret || strlen(secret) < least)
		return n;
	while (at < end) {
		const char *next = hide_next(at, end, *secret);
		size_t said = 0;

		if (next < end &&
				(*next == *secret || hide_may_escape(next, end, *secret, &run_end)))
			said = hide_find(next, end, secret);
		if (next < end && !said)
			next++;
		if (to != at)
			memmove(to, at, (size_t)(next - at));
		to += next - at;
		at = next + said;
		if (said) {
			memcpy(to, shown, sizeof(shown) - 1);
			to += sizeof(shown) - 1;
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
