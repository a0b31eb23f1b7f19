/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hide.h"

#include <ctype.h>
#include <string.h>

#define ESCAPES_MAX 16 /* backslashes before a character: of four decodings */

/* How many bytes at `at` say c as text or in JSON, escaped so often that some reader's next decoding gives it;
 * 0: they say something else. */
static size_t says(const char *at, const char *end, char c)
{
	const char *p = at;
	unsigned value = 0;

	while (p < end && p - at < ESCAPES_MAX && *p == '\\' && c != '\\')
		p++;
	if (p < end && *p == c)
		return (size_t)(p - at) + 1;
	if (p == at || end - p < 5 || *p != 'u')
		return 0;
	for (int i = 1; i <= 4; i++) {
		if (!isxdigit((unsigned char)p[i]))
			return 0;
		value = value * 16 +
				(unsigned)(isdigit((unsigned char)p[i]) ? p[i] - '0'
									: (p[i] | 32) - 'a' + 10);
	}
	return value == (unsigned char)c ? (size_t)(p - at) + 5 : 0;
}

static size_t says_secret(const char *at, const char *end, const char *secret)
{
	const char *p = at;

	for (; *secret; secret++) {
		size_t n = says(p, end, *secret);

		if (!n)
			return 0;
		p += n;
	}
	return (size_t)(p - at);
}

/* The text gets shorter, so it stays where it is; returns how long it is then. */
static size_t hide(char *text, size_t n, const char *secret, size_t least)
{
	static const char shown[] = "[key]";
	char *to = text;
	const char *at = text, *end = text ? text + n : NULL;

	_Static_assert(sizeof(shown) - 1 <= HIDE_COMPLAINT_BYTES_MIN, "what is shown is no longer");
	if (!text || !secret || strlen(secret) < least)
		return n;
	while (at < end) {
		size_t said = *at == *secret || *at == '\\' ? says_secret(at, end, secret) : 0;

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
	text->len = hide(text->data, text->len, secret, HIDE_BYTES_MIN);
}

void hide_in_complaint(struct buf *text, const char *secret)
{
	text->len = hide(text->data, text->len, secret, HIDE_COMPLAINT_BYTES_MIN);
}

void hide_in_text(char *text, const char *secret)
{
	hide(text, text ? strlen(text) : 0, secret, HIDE_BYTES_MIN);
}
