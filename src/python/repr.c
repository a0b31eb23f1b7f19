/* SPDX-License-Identifier: Apache-2.0 */
#include "python/repr.h"

#include "base/scope.h"
#include "base/str.h"

#include <stdbool.h>
#include <string.h>

/* Ranges of characters that Python's repr() escapes, sorted. */
static const struct repr_range {
	uint32_t first, last;
} repr_unprintable[] = {
#include "python/unprintable.h"
};

static bool repr_is_printable(uint32_t c)
{
	size_t low = 0, high = ARRAY_SIZE(repr_unprintable);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c < repr_unprintable[middle].first)
			high = middle;
		else if (c > repr_unprintable[middle].last)
			low = middle + 1;
		else
			return false;
	}
	return true;
}

static void repr_add_escape(struct buf *out, uint32_t c)
{
	if (c == '\t' || c == '\n' || c == '\r')
		buf_printf(out, "\\%c", c == '\t' ? 't' : c == '\n' ? 'n' : 'r');
	else if (c < 0x100)
		buf_printf(out, "\\x%02x", c);
	else
		buf_printf(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

void repr_add_text(struct buf *out, const char *s, size_t n)
{
	char quote = memchr(s, '\'', n) && !memchr(s, '"', n) ? '"' : '\'';
	size_t length;

	buf_add_char(out, quote);
	for (size_t at = 0; at < n; at += length) {
		uint32_t c;

		length = str_utf8_length(s + at, n - at);
		if (!length) {
			repr_add_escape(out, 0xdc00 | (unsigned char)s[at]);
			length = 1;
			continue;
		}
		c = str_utf8_decode(s + at, &length);
		if (c == (uint32_t)quote || c == '\\')
			buf_printf(out, "\\%c", (char)c);
		else if (!repr_is_printable(c))
			repr_add_escape(out, c);
		else
			buf_add(out, s + at, length);
	}
	buf_add_char(out, quote);
}

static void repr_add_object(struct buf *out, json_t *object)
{
	const char *separator = "";
	const char *key;
	json_t *member;

	buf_add_char(out, '{');
	json_object_foreach(object, key, member) {
		buf_add_str(out, separator);
		repr_add_text(out, key, strlen(key));
		buf_add_str(out, ": ");
		repr_add_json(out, member);
		separator = ", ";
	}
	buf_add_char(out, '}');
}

static void repr_add_array(struct buf *out, const json_t *array)
{
	buf_add_char(out, '[');
	for (size_t i = 0; i < json_array_size(array); i++) {
		buf_add_str(out, i ? ", " : "");
		repr_add_json(out, json_array_get(array, i));
	}
	buf_add_char(out, ']');
}

void repr_add_json(struct buf *out, json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		repr_add_object(out, value);
		break;
	case JSON_ARRAY:
		repr_add_array(out, value);
		break;
	case JSON_STRING:
		repr_add_text(out, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		json_add(out, value, true);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		buf_add_str(out, json_is_true(value) ? "True" : "False");
		break;
	case JSON_NULL:
		buf_add_str(out, "None");
		break;
	}
}
