/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/dotenv.h"

#include <errno.h>

/* Variables of a file: how they may be written, and what is wrong. */

static char folder[FOLDER_MAX];
static struct fh_error error;

static int load(const char *text, size_t n)
{
	auto_free char *path = xasprintf("%s/.env", folder);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fwrite(text, 1, n, file);
	fclose(file);
	unsetenv("A_KEY");
	unsetenv("B");
	return dotenv_load(path, &error);
}

static void test_taken(void **state)
{
	static const struct {
		const char *text, *a_key, *b;
	} cases[] = {
		{ "", NULL, NULL },
		{ "# nothing\n\n \t\r\n", NULL, NULL },
		{ "A_KEY=x", "x", NULL },
		{ "A_KEY=\nB=\n", "", "" },
		{ "\xef\xbb\xbf"
		  "A_KEY=x\r\nB=y z \t\r\n",
				"x", "y z" },
		{ "  export A_KEY = x # why\nexport\tB=y#z\n", "x", "y#z" },
		{ "A_KEY= # none\nB=#\n", "", "" },
		{ "A_KEY='a \"$b\\n'  # c\nB=\"a 'b\\n\\t\\\"\\\\\\$c\\x\"", "a \"$b\\n",
				"a 'b\n\t\"\\$c\\x" },
		{ "A_KEY=\"one\ntwo\"\nB='x\n'\n", "one\ntwo", "x\n" },
		{ "A_KEY=first\nA_KEY=second\n", "first", NULL },
		{ "A_KEY=a=b'c\"\n", "a=b'c\"", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_done(load(cases[i].text, strlen(cases[i].text)));
		if (!str_eq(getenv("A_KEY"), cases[i].a_key) || !str_eq(getenv("B"), cases[i].b))
			fail_msg("'%s' gives '%s', '%s'", cases[i].text, getenv("A_KEY"),
					getenv("B"));
	}
}

static void test_wrong(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "A_KEY=secret\nB\n", ".env:2: expected KEY=VALUE" },
		{ "=x\n", ".env:1: expected KEY=VALUE" },
		{ "1A=x\n", ".env:1: expected KEY=VALUE" },
		{ "A KEY=x\n", ".env:1: expected KEY=VALUE" },
		{ "\nB='secret\n\n", ".env:2: a quote that is not closed" },
		{ "A_KEY='a\nb'\nB=\"x\" secret\n", ".env:3: something after the closing quote" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(load(cases[i].text, strlen(cases[i].text)), -EINVAL);
		assert_has(error.message, cases[i].why);
		assert_lacks(error.message, "secret");
		assert_null(getenv("A_KEY"));
	}
	assert_int_equal(load("A_KEY=x\0y", 9), -EINVAL);
}

static void test_files(void **state)
{
	auto_free char *path = xasprintf("%s/none", folder);
	auto_free char *large = xcalloc(1, DOTENV_BYTES_MAX + 2);

	assert_done(dotenv_load(path, &error));
	memset(large, '\n', DOTENV_BYTES_MAX + 1);
	assert_int_equal(load(large, DOTENV_BYTES_MAX + 1), -EFBIG);
	assert_int_equal(dotenv_load(folder, &error), -EISDIR);
}

/* What is set already wins. */
static void test_set_before(void **state)
{
	auto_free char *path = xasprintf("%s/.env", folder);

	assert_done(load("B=file\n", 7));
	setenv("B", "before", 1);
	assert_done(dotenv_load(path, &error));
	assert_string_equal(getenv("B"), "before");
}

static int set_up(void **state)
{
	return folder_make(folder);
}

static int tear_down(void **state)
{
	return folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_set_before),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
