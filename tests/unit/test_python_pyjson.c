/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "python/pyjson.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define LENGTH 20

static const struct pyjson *read_text(struct arena *a, const char *text, struct fh_error *err)
{
	struct pyjson_source source = { .name = "text", .data = text, .n = strlen(text) };
	const struct pyjson *v = NULL;

	return pyjson_read(a, &source, &v, err) < 0 ? NULL : v;
}

struct string_case {
	const char *json;  /* stands somewhere in a string of letters */
	const char *means; /* NULL: the string can't be read */
};

/* Strings are copied in pieces of eight bytes, so each place in them is tried. */
static void test_strings_of_all_lengths(void **state)
{
	static const struct string_case cases[] = {
		{ "", "" },
		{ "\\\"", "\"" },
		{ "\\\\", "\\" },
		{ "\\\\\\\"", "\\\"" },
		{ "\\u00e9", "\u00e9" },
		{ "\u00e9\u20ac", "\u00e9\u20ac" },
		{ "\x7f", "\x7f" },
		{ "\x1f", NULL },
		{ "\n", NULL },
		{ "\\x", NULL },
		{ "\xff", NULL },
	};
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int before = 0; before < LENGTH; before++) {
			for (int after = 0; after < LENGTH; after++) {
				auto_arena struct arena a = ARENA_INIT;
				const struct pyjson *v;
				char json[100], means[100];

				snprintf(json, sizeof(json), "[\"%.*s%s%.*s\", 5]", before, letters,
						cases[i].json, after, letters);
				v = read_text(&a, json, NULL);
				assert_int_equal(v != NULL, cases[i].means != NULL);
				if (!v)
					continue;
				snprintf(means, sizeof(means), "%.*s%s%.*s", before, letters,
						cases[i].means, after, letters);
				assert_string_equal(v->first->text, means);
				assert_int_equal(v->first->len, strlen(means));
				assert_string_equal(v->first->next->text, "5");
			}
		}
	}
}

static void test_strings_without_an_end(void **state)
{
	static const char text[] = "\"abcdefghijklmnopqrstuvwxyz\\\\\\\"";

	(void)state;
	for (size_t n = 1; n < sizeof(text); n++) {
		auto_arena struct arena a = ARENA_INIT;
		char cut[sizeof(text)];
		struct fh_error err;

		snprintf(cut, sizeof(cut), "%.*s", (int)n, text);
		assert_null(read_text(&a, cut, &err));
		assert_string_equal(err.message, "text:1:1: a string that does not end");
	}
}

static void test_columns_count_characters(void **state)
{
	static const char text[] =
			"[\"\u00e9\u20acabcdefgh\u00e9\", \"12345678\",\n \"\u00e9\", x]";
	auto_arena struct arena a = ARENA_INIT;
	struct fh_error err;

	(void)state;
	assert_null(read_text(&a, text, &err));
	assert_string_equal(err.message, "text:2:7: expected a JSON value");
	assert_null(read_text(&a, "[\"\u00e9\u20acabcdefgh\u00e9\", y]", &err));
	assert_string_equal(err.message, "text:1:17: expected a JSON value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings_of_all_lengths),
		cmocka_unit_test(test_strings_without_an_end),
		cmocka_unit_test(test_columns_count_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
