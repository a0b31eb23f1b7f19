/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hide.h"
#include "base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define KEY "sk-a/b+c=1234"

static const struct {
	const char *secret, *text, *shown;
} cases[] = {
	{ KEY, KEY, "[key]" },
	{ KEY, "it is " KEY ", " KEY "!", "it is [key], [key]!" },
	{ KEY, "sk-sk-a/b+c=1234" KEY, "sk-[key][key]" },
	{ KEY, "sk-a/b+c=123", "sk-a/b+c=123" },
	{ KEY, "", "" },
	{ KEY, "\"\\u0073k-a\\/b\\u002bc\\u003D1234\"", "\"[key]\"" },
	{ KEY, "\\n\\\\u0073k-a\\\\/b+c=1234\\t", "\\n[key]\\t" },
	{ KEY, "\\u0073\\u006b-", "\\u0073\\u006b-" },
	{ KEY, "\\u00\\u0073k-a/b+c=123\\u0035", "\\u00\\u0073k-a/b+c=123\\u0035" },
	{ KEY, "\\u0173k-a/b+c=1234 \\", "\\u0173k-a/b+c=1234 \\" },
	{ "a\\b\\c\\d\\e\\f\\g", "a\\b\\c\\d\\e\\f\\g", "[key]" },
	{ KEY, "k=sk%2Da%2fb%2Bc%3D1234&x=%2F", "k=[key]&x=%2F" },
	{ KEY, "%73%6B%2D%61/b+c=1234", "[key]" },
	{ KEY, "sk-a%252Fb%25252bc=1234", "[key]" },
	{ KEY, "sk%2Ea%2Fb%2Bc%3D1234 sk%2", "sk%2Ea%2Fb%2Bc%3D1234 sk%2" },
	{ KEY, "sk-a%u002Fb+c=1234%", "sk-a%u002Fb+c=1234%" },
	{ "100%-secret-%2F", "100%-secret-%2F, 100%25-secret-%252F", "[key], [key]" },
	{ "not-needed", "not-needed", "not-needed" },
	{ NULL, KEY, KEY },
};

static void test_what_is_hidden(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf text = BUF_INIT(1000);

		buf_add_str(&text, cases[i].text);
		hide_secret(&text, cases[i].secret);
		assert_string_equal(buf_str(&text), cases[i].shown);
		assert_int_equal(text.len, strlen(cases[i].shown));
	}
}

static void test_a_text_of_escapes_takes_no_time(void **state)
{
	static const char *const escapes[] = { "\\", "%", "%25" };

	(void)state;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		auto_buf struct buf text = BUF_INIT(32L << 20);
		size_t n;

		while (text.len < 8L << 20)
			buf_add_str(&text, escapes[i]);
		n = text.len;
		hide_secret(&text, KEY);
		assert_int_equal(text.len, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_hidden),
		cmocka_unit_test(test_a_text_of_escapes_takes_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
