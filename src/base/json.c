/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/str.h"

#include <errno.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

int json_parse(const char *what, const char *text, size_t n, json_t **out, struct fh_error *err)
{
	json_error_t error;
	json_t *value = json_loadb(text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

	if (!value)
		return error_say(err, EINVAL, "%s:%d:%d: %s", what, error.line < 1 ? 1 : error.line,
				error.column < 1 ? 1 : error.column, error.text);
	*out = value;
	return 0;
}

static const char *json_kind_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a boolean";
	case JSON_NULL:
		return "null";
	}
	return "nothing";
}

static int json_wrong_kind(
		const char *key, const char *expected, const json_t *value, struct fh_error *err)
{
	return error_say(err, EINVAL, "'%s': expected %s, found %s", key, expected,
			json_kind_name(value));
}

/* The member; NULL where it is not there, with 0 in *out if it need not be, else the error. */
static json_t *json_find_member(const json_t *object, const char *key, enum json_presence presence,
		int *out, struct fh_error *err)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_object(object))
		*out = error_say(err, EINVAL, "expected an object with '%s', found %s", key,
				object ? json_kind_name(object) : "nothing");
	else if (value && !json_is_null(value))
		return value;
	else if (presence == JSON_REQUIRED)
		*out = error_say(err, EINVAL, "'%s' is missing", key);
	else
		*out = 0;
	return NULL;
}

int json_get_str(const json_t *object, const char *key, enum json_presence presence,
		const char **out, struct fh_error *err)
{
	int missing;
	json_t *value = json_find_member(object, key, presence, &missing, err);

	if (!value)
		return missing;
	if (!json_is_string(value))
		return json_wrong_kind(key, "a string", value, err);
	if (strlen(json_string_value(value)) != json_string_length(value))
		return error_say(err, EINVAL, "'%s': holds a NUL character", key);
	*out = json_string_value(value);
	return 0;
}

int json_get_i64(const json_t *object, const char *key, enum json_presence presence, int64_t *out,
		struct fh_error *err)
{
	int missing;
	json_t *value = json_find_member(object, key, presence, &missing, err);

	if (!value)
		return missing;
	if (!json_is_integer(value))
		return json_wrong_kind(key, "an integer", value, err);
	*out = json_integer_value(value);
	return 0;
}

int json_get_double(const json_t *object, const char *key, enum json_presence presence, double *out,
		struct fh_error *err)
{
	int missing;
	json_t *value = json_find_member(object, key, presence, &missing, err);

	if (!value)
		return missing;
	if (!json_is_number(value))
		return json_wrong_kind(key, "a number", value, err);
	*out = json_number_value(value);
	return 0;
}

int json_get_bool(const json_t *object, const char *key, enum json_presence presence, bool *out,
		struct fh_error *err)
{
	int missing;
	json_t *value = json_find_member(object, key, presence, &missing, err);

	if (!value)
		return missing;
	if (!json_is_boolean(value))
		return json_wrong_kind(key, "true or false", value, err);
	*out = json_is_true(value);
	return 0;
}

int json_get_object(const json_t *object, const char *key, enum json_presence presence,
		json_t **out, struct fh_error *err)
{
	int missing;
	json_t *value = json_find_member(object, key, presence, &missing, err);

	if (!value)
		return missing;
	if (!json_is_object(value))
		return json_wrong_kind(key, "an object", value, err);
	*out = value;
	return 0;
}

int json_get_array(const json_t *object, const char *key, enum json_presence presence, json_t **out,
		struct fh_error *err)
{
	int missing;
	json_t *value = json_find_member(object, key, presence, &missing, err);

	if (!value)
		return missing;
	if (!json_is_array(value))
		return json_wrong_kind(key, "an array", value, err);
	*out = value;
	return 0;
}

json_t *json_text(const char *s)
{
	auto_buf struct buf valid = BUF_INIT(SIZE_MAX / 8);

	if (!s)
		return json_null();
	str_add_utf8(&valid, s, strlen(s));
	return json_stringn_nocheck(buf_str(&valid), valid.len);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* jansson's own writer is not used: it gives 17 digits of every real number. */

/* After a backslash; 0: it has none. */
static char json_letter_of(uint32_t c)
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

static void json_add_escaped(struct buf *out, uint32_t c)
{
	char letter = json_letter_of(c);

	if (letter)
		buf_printf(out, "\\%c", letter);
	else if (c < 0x10000)
		buf_printf(out, "\\u%04x", c);
	else
		buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
				0xdc00 + ((c - 0x10000) & 0x3ff));
}

size_t json_text_bytes(const char *s)
{
	size_t bytes = 0, n = s ? strlen(s) : 0, length;

	for (size_t at = 0; at < n; at += length) {
		uint32_t c = str_utf8_decode(s + at, &length);

		bytes += json_letter_of(c) ? 2 : c >= 0x20 && c < 0x7f ? 1 : c < 0x10000 ? 6 : 12;
	}
	return bytes;
}

static void json_add_string(struct buf *out, const char *s, size_t n, bool ascii)
{
	size_t begin = 0; /* of what can be copied as it is */
	size_t length;

	buf_add_char(out, '"');
	for (size_t at = 0; at < n; at += length) {
		uint32_t c = str_utf8_decode(s + at, &length);

		if (c >= 0x20 && c != '"' && c != '\\' && !(ascii && c >= 0x7f))
			continue;
		buf_add(out, s + begin, at - begin);
		json_add_escaped(out, c);
		begin = at + length;
	}
	buf_add(out, s + begin, n - begin);
	buf_add_char(out, '"');
}

static void json_add_object(struct buf *out, json_t *object, bool ascii)
{
	char before = '{';
	const char *key;
	json_t *member;

	json_object_foreach(object, key, member) {
		buf_add_char(out, before);
		json_add_string(out, key, strlen(key), ascii);
		buf_add_char(out, ':');
		json_add(out, member, ascii);
		before = ',';
	}
	buf_add_str(out, before == '{' ? "{}" : "}");
}

static void json_add_array(struct buf *out, const json_t *array, bool ascii)
{
	buf_add_char(out, '[');
	for (size_t i = 0; i < json_array_size(array); i++) {
		if (i)
			buf_add_char(out, ',');
		json_add(out, json_array_get(array, i), ascii);
	}
	buf_add_char(out, ']');
}

/* As deep as the value is; jansson's parser lets at most 2,048 levels in. */
void json_add(struct buf *out, json_t *value, bool ascii)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		json_add_object(out, value, ascii);
		break;
	case JSON_ARRAY:
		json_add_array(out, value, ascii);
		break;
	case JSON_STRING:
		json_add_string(out, json_string_value(value), json_string_length(value), ascii);
		break;
	case JSON_INTEGER:
		buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		str_add_double(out, json_real_value(value));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		buf_add_str(out, json_is_true(value) ? "true" : "false");
		break;
	case JSON_NULL:
		buf_add_str(out, "null");
		break;
	}
}
