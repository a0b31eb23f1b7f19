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

#define JSON_KIND(type) (1U << (type))

/* Finds a member of an object; `kinds` are the types that it may have. 1: found. 0: an optional
 * member is missing or null. */
static int json_find(const json_t *object, const char *key, enum json_presence presence,
		unsigned kinds, const char *expected, json_t **out, struct fh_error *err)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_object(object))
		return error_say(err, EINVAL, "expected an object with '%s', found %s", key,
				object ? json_kind_name(object) : "nothing");
	if (!value || json_is_null(value))
		return presence == JSON_REQUIRED ? error_say(err, EINVAL, "'%s' is missing", key)
						 : 0;
	if (!(kinds & JSON_KIND(json_typeof(value))))
		return error_say(err, EINVAL, "'%s': expected %s, found %s", key, expected,
				json_kind_name(value));
	*out = value;
	return 1;
}

int json_get_str(const json_t *object, const char *key, enum json_presence presence,
		const char **out, struct fh_error *err)
{
	json_t *value;
	int r = json_find(object, key, presence, JSON_KIND(JSON_STRING), "a string", &value, err);

	if (r <= 0)
		return r;
	if (strlen(json_string_value(value)) != json_string_length(value))
		return error_say(err, EINVAL, "'%s': holds a NUL character", key);
	*out = json_string_value(value);
	return 0;
}

int json_get_bool(const json_t *object, const char *key, enum json_presence presence, bool *out,
		struct fh_error *err)
{
	json_t *value;
	int r = json_find(object, key, presence, JSON_KIND(JSON_TRUE) | JSON_KIND(JSON_FALSE),
			"true or false", &value, err);

	if (r <= 0)
		return r;
	*out = json_is_true(value);
	return 0;
}

int json_get_array(const json_t *object, const char *key, enum json_presence presence, json_t **out,
		struct fh_error *err)
{
	int r = json_find(object, key, presence, JSON_KIND(JSON_ARRAY), "an array", out, err);

	return r < 0 ? r : 0;
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

/* A writer of our own: jansson's writes 17 digits of every real number. */

/* Recursion is safe here: jansson's parser refuses more than 2,048 levels. */
void json_add(struct buf *out, json_t *value, bool ascii)
{
	enum json_text_form form = ascii ? JSON_TEXT_ASCII : JSON_TEXT_UTF8;
	const char *separator = "", *key;
	json_t *member;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		buf_add_char(out, '{');
		json_object_foreach(value, key, member) {
			buf_add_str(out, separator);
			json_text_add(out, key, strlen(key), form);
			buf_add_char(out, ':');
			json_add(out, member, ascii);
			separator = ",";
		}
		buf_add_char(out, '}');
		break;
	case JSON_ARRAY:
		buf_add_char(out, '[');
		for (size_t i = 0; i < json_array_size(value); i++) {
			buf_add_str(out, i ? "," : "");
			json_add(out, json_array_get(value, i), ascii);
		}
		buf_add_char(out, ']');
		break;
	case JSON_STRING:
		json_text_add(out, json_string_value(value), json_string_length(value), form);
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
