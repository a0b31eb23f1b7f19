/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/multiline.h"

#include <stdlib.h>

static const struct multiline commands[] = { { "edit", "end_of_edit" }, { "put", "done" } };

static const struct {
	const char *text, *quoted; /* NULL: as it is */
} cases[] = {
	{ "edit 1:2\na $b\nend_of_edit", "edit << 'end_of_edit' 1:2\na $b\nend_of_edit\n" },
	{ "  edit 1:2 \t\r\nend_of_edit  \nls", "  edit << 'end_of_edit' 1:2\nend_of_edit\nls" },
	{ "edit 1:2; ls\na\nend_of_edit", "edit << 'end_of_edit' 1:2; ls\na\nend_of_edit\n" },
	{ "cd x\nedit 1:1\n  end_of_edit\nend_of_edit\nput a\nb\ndone\n",
			"cd x\nedit << 'end_of_edit' 1:1\n  end_of_edit\nend_of_edit\nput << 'done' a\nb\n"
			"done\n" },
	{ "edit\nend_of_edit", "edit << 'end_of_edit'\nend_of_edit\n" },
	/* Commands in the text of a here-document are not quoted. */
	{ "edit 1:1\nput\ndone\nend_of_edit",
			"edit << 'end_of_edit' 1:1\nput\ndone\nend_of_edit\n" },
	{ "cat > a <<E\nput\ndone\nE\nput\ndone",
			"cat > a <<E\nput\ndone\nE\nput << 'done'\ndone\n" },
	{ "cat <<-'E' - <<\"F G\"\nput\ndone\n\tE", NULL },
	{ "cat <<A <<B\nA\nput\ndone\nB\nput\ndone",
			"cat <<A <<B\nA\nput\ndone\nB\nput << 'done'\ndone\n" },
	{ "echo $((1<<2))\nput\ndone", "echo $((1<<2))\nput << 'done'\ndone\n" },
	{ "cat <<E\nput\ndone", "cat <<E\nput << 'done'\ndone\n" },
	{ "cat <<< E\nput\ndone\nE", "cat <<< E\nput << 'done'\ndone\nE" },
	{ "cat <<\nput\ndone", "cat <<\nput << 'done'\ndone\n" },
	{ "edit 1:1 << 'end_of_edit'\nx\nend_of_edit", NULL },
	{ "edit 1:1 <<EOF\nx\nEOF", NULL },
	{ "edit 1:1\nx\nend_of_edits", NULL },
	{ "editor 1\nend_of_edit", NULL },
	{ "echo edit 1:1\nend_of_edit", NULL },
	{ "edit 1:1 end_of_edit", NULL },
	{ "cd x && edit 1:1\na\nend_of_edit",
			"cd x && edit << 'end_of_edit' 1:1\na\nend_of_edit\n" },
	{ "open x; edit 1:1; ls\na\nend_of_edit",
			"open x; edit << 'end_of_edit' 1:1; ls\na\nend_of_edit\n" },
	{ "echo a||  put\ndone", "echo a||  put << 'done'\ndone\n" },
	{ "echo 'a; put' \"b; put\" c\\; put\nx\ndone", NULL },
	{ "", NULL },
};

static void test_cases(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *out =
				multiline_quote(cases[i].text, commands, ARRAY_SIZE(commands));

		if (!str_eq(out, cases[i].quoted))
			fail_msg("%zu: '%s'", i, out ? out : "(as it is)");
	}
}

static void test_end(void **state)
{
	static const struct {
		const char *line, *end;
	} rows[] = {
		{ "edit 1:2", "end_of_edit" },
		{ "cd x && put a", "done" },
		{ "edit 1:2 << E", NULL },
		{ "echo edit 1:2", NULL },
		{ "ls", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *end = multiline_end(rows[i].line, commands, ARRAY_SIZE(commands));

		if (!str_eq(end, rows[i].end))
			fail_msg("%zu: '%s'", i, end ? end : "(complete)");
	}
}

/* Quoting a long action must be fast, because the owner serves other agents in the same thread. */
static void test_time(void **state)
{
	static const char *const lines[] = { "edit\n", "cat <<E\n", "<<A <<B <<C <<D\n",
		"put\ndone\n" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		auto_buf struct buf text = BUF_INIT(1 << 20);
		clock_t began = clock();
		auto_free char *out = NULL;

		while (text.len + strlen(lines[i]) <= text.cap)
			buf_add_str(&text, lines[i]);
		out = multiline_quote(buf_str(&text), commands, ARRAY_SIZE(commands));
		assert_null(out); /* refused: too long once it is quoted */
		assert_true(clock() - began < 5 * CLOCKS_PER_SEC);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases),
		cmocka_unit_test(test_end), cmocka_unit_test(test_time) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
