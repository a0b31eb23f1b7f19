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

void hide_secret(struct buf *text, const char *secret)
{
	static const char shown[] = "[key]";
	char *to = text->data;
	const char *at = text->data, *end = at ? at + text->len : NULL;

	if (!at || !secret || strlen(secret) < HIDE_BYTES_MIN)
		return;
	/* It gets shorter, so it stays where it is. */
	while (at < end) {
		size_t n = *at == *secret || *at == '\\' ? says_secret(at, end, secret) : 0;

		if (n) {
			memcpy(to, shown, sizeof(shown) - 1);
			to += sizeof(shown) - 1;
			at += n;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	text->len = (size_t)(to - text->data);
}
