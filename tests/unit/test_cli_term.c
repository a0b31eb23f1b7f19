/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "cli/term.h"

#include <fcntl.h>
#include <locale.h>

static void test_columns(void **state)
{
	static const struct {
		const char *text;
		int columns;
	} cases[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "é", 1 },
		{ "e\u0301", 1 },
		{ "日本", 4 },
		{ "😀", 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (term_columns(cases[i].text) != cases[i].columns)
			fail_msg("'%s': %d", cases[i].text, term_columns(cases[i].text));
}

static void test_lines(void **state)
{
	static const struct {
		const char *text;
		int columns;
		const char *line;
	} cases[] = {
		{ "short", 10, "short" },
		{ "exactly 10", 10, "exactly 10" },
		{ "one letter more", 10, "one let..." },
		{ "日本語日本語", 7, "日本..." }, /* a wide character is never cut in half */
		{ "a\tb\nc", 10, "a b c" },
		{ "\033[31mred", 20, "\\x1b[31mred" }, /* an agent can't colour the terminal */
		{ "bad \xff byte", 20, "bad \\xff byte" },
		{ "long", 3, "" },
		{ "abc", 3, "abc" },
		{ "abc", 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf b = BUF_INIT(1024);

		term_add_line(&b, cases[i].text, cases[i].columns);
		assert_string_equal(buf_str(&b), cases[i].line);
	}
}

static void test_paragraphs(void **state)
{
	static const struct {
		const char *text;
		int indent, width;
		const char *wrapped;
	} cases[] = {
		{ "one two three", 0, 80, "one two three" },
		{ "one two three", 0, 7, "one two\nthree" },
		{ "one two three", 2, 7, "one\n  two\n  three" },
		{ "averylongword x", 2, 6, "averylongword\n  x" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf b = BUF_INIT(1024);

		term_add_wrapped(&b, cases[i].text, cases[i].indent, cases[i].width);
		assert_string_equal(buf_str(&b), cases[i].wrapped);
	}
}

static void test_tables(void **state)
{
	auto_buf struct buf b = BUF_INIT(1024);
	int widths[2] = { 3, 0 };

	term_widen(widths, (const char *const[]){ "a", "日本" }, 2);
	assert_true(widths[0] == 3 && widths[1] == 4);
	term_add_pad(&b, 1, 3);
	term_add_pad(&b, 3, 1);
	assert_string_equal(buf_str(&b), "  ");
}

/* Output to a file has no colours and no redrawing, and the width that was asked for. */
static void test_no_terminal(void **state)
{
	auto_close int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	assert_false(term_colours(fd) || term_redraws(fd));
	assert_int_equal(term_width(fd, 77), 77);
	assert_string_equal(term_style(false, TERM_RED), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_paragraphs),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_no_terminal),
	};

	setlocale(LC_CTYPE, "C.UTF-8"); /* as the program sets it */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
