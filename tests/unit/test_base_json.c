/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/scope.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static json_t *parse(const char *text)
{
	struct fh_error err = FH_ERROR_INIT;
	json_t *value = NULL;

	if (json_parse("t", text, strlen(text), &value, &err) < 0)
		fail_msg("%s", err.message);
	return value;
}

static void test_errors_have_a_place(void **state)
{
	static const struct {
		const char *text, *begin;
	} cases[] = {
		{ "{\"a\": 1,\n \"b\": }", "t:2:" },
		{ "", "t:1:" },
		{ "[1] 2", "t:1:" },
		{ "\"\xff\"", "t:1:" },
		{ "{\"a\": NaN}", "t:1:" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fh_error err = FH_ERROR_INIT;
		json_t *value = NULL;

		assert_int_equal(
				json_parse("t", cases[i].text, strlen(cases[i].text), &value, &err),
				-EINVAL);
		assert_null(value);
		if (strncmp(err.message, cases[i].begin, strlen(cases[i].begin)) != 0)
			fail_msg("'%s' does not begin with '%s'", err.message, cases[i].begin);
	}
}

static void test_members(void **state)
{
	auto_json json_t *object = parse("{\"s\":\"x\",\"b\":true,\"n\":null,\"a\":[1]}");
	const char *s = "kept";
	bool b = false;
	json_t *a = NULL;

	(void)state;
	assert_int_equal(json_get_str(object, "s", JSON_REQUIRED, &s, NULL), 0);
	assert_string_equal(s, "x");
	assert_int_equal(json_get_bool(object, "b", JSON_REQUIRED, &b, NULL), 0);
	assert_true(b);
	assert_int_equal(json_get_array(object, "a", JSON_REQUIRED, &a, NULL), 0);
	assert_int_equal(json_array_size(a), 1);
	/* Reading a missing or null optional member leaves the output variable untouched. */
	assert_int_equal(json_get_str(object, "none", JSON_OPTIONAL, &s, NULL), 0);
	assert_int_equal(json_get_str(object, "n", JSON_OPTIONAL, &s, NULL), 0);
	assert_string_equal(s, "x");
}

static void test_members_of_another_kind(void **state)
{
	auto_json json_t *object = parse("{\"i\":3,\"d\":1.5,\"z\":\"a\\u0000b\"}");
	auto_json json_t *list = parse("[]");
	struct fh_error err = FH_ERROR_INIT;
	const char *s = NULL;
	bool b;

	(void)state;
	assert_int_equal(json_get_str(object, "none", JSON_REQUIRED, &s, &err), -EINVAL);
	assert_string_equal(err.message, "'none' is missing");
	assert_int_equal(json_get_str(object, "i", JSON_OPTIONAL, &s, &err), -EINVAL);
	assert_string_equal(err.message, "'i': expected a string, found an integer");
	assert_int_equal(json_get_bool(object, "d", JSON_REQUIRED, &b, &err), -EINVAL);
	assert_string_equal(err.message, "'d': expected true or false, found a number");
	assert_int_equal(json_get_bool(object, "i", JSON_REQUIRED, &b, &err), -EINVAL);
	assert_string_equal(err.message, "'i': expected true or false, found an integer");
	assert_int_equal(json_get_str(object, "z", JSON_REQUIRED, &s, &err), -EINVAL);
	assert_string_equal(err.message, "'z': holds a NUL character");
	assert_int_equal(json_get_str(list, "a", JSON_OPTIONAL, &s, &err), -EINVAL);
	assert_string_equal(err.message, "expected an object with 'a', found an array");
	assert_null(s);
}

static void test_writing(void **state)
{
	static const struct {
		const char *in, *plain, *ascii;
	} cases[] = {
		{ "{}", "{}", "{}" },
		{ "[ ]", "[]", "[]" },
		{ "{ \"b\" : 1 , \"a\" : [ 1.0 , -0.1 , null , true ] }",
				"{\"b\":1,\"a\":[1.0,-0.1,null,true]}",
				"{\"b\":1,\"a\":[1.0,-0.1,null,true]}" },
		{ "\"\\u00fc\\ud83d\\ude00\\u007f\\u0001\\\"\\\\\\n\"",
				"\"\xc3\xbc\xf0\x9f\x98\x80\x7f\\u0001\\\"\\\\\\n\"",
				"\"\\u00fc\\ud83d\\ude00\\u007f\\u0001\\\"\\\\\\n\"" },
		{ "\"a\\u0000b\"", "\"a\\u0000b\"", "\"a\\u0000b\"" },
		{ "9223372036854775807", "9223372036854775807", "9223372036854775807" },
		{ "1e-7", "1e-07", "1e-07" },
		{ "false", "false", "false" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_json json_t *value = parse(cases[i].in);
		auto_buf struct buf out = BUF_INIT(1000);

		json_add(&out, value, false);
		assert_string_equal(buf_str(&out), cases[i].plain);
		buf_clear(&out);
		json_add(&out, value, true);
		assert_string_equal(buf_str(&out), cases[i].ascii);
	}
}

static void test_text_of_any_bytes(void **state)
{
	auto_json json_t *value = json_text("a\xff");
	auto_json json_t *nothing = json_text(NULL);

	(void)state;
	assert_string_equal(json_string_value(value), "a\\xff");
	assert_true(json_is_null(nothing));
}

static void test_bytes_of_a_text(void **state)
{
	static const char *const texts[] = { "", "plain ~", "\"\\\n\t\b\f\r", "\x01\x1f\x7f",
		"\u00e9\u20ac", "\U0001f600" };

	(void)state;
	assert_int_equal(json_text_bytes(NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_json json_t *value = json_text(texts[i]);
		auto_buf struct buf out = BUF_INIT(1000);

		json_add(&out, value, true);
		assert_int_equal(json_text_bytes(texts[i]) + strlen("\"\""), out.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors_have_a_place),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_members_of_another_kind),
		cmocka_unit_test(test_writing),
		cmocka_unit_test(test_text_of_any_bytes),
		cmocka_unit_test(test_bytes_of_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
