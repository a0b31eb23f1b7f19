/* SPDX-License-Identifier: Apache-2.0 */
#include "base/query.h"

#include "base/str.h"

#include <errno.h>
#include <string.h>

/* Decodes a value, up to the "&" behind it. */
static int query_decode(const char *text, char *value, size_t size)
{
	size_t n = 0;

	for (; *text && *text != '&'; text++) {
		char c = *text == '+' ? ' ' : *text;

		if (c == '%') {
			int high = str_hex_digit(text[1]);
			int low = high < 0 ? -1 : str_hex_digit(text[2]);

			c = low < 0 ? '\0' : (char)(high << 4 | low);
			text += 2;
		}
		if (!c || n == size - 1)
			return -EINVAL;
		value[n++] = c;
	}
	value[n] = '\0';
	return 1;
}

int query_argument(const char *query, const char *name, char *value, size_t n)
{
	const char *at = query;

	while (!str_starts(at, name)) {
		at = strchr(at, '&');
		if (!at)
			return 0;
		at++;
	}
	return query_decode(at + strlen(name), value, n);
}
