/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "base/str.h"
#include "model/completion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char *const commands[] = { "scroll_up", "scroll_down", "submit" };

static const char *const files[] = { "data/", "data/one.csv", "data/two words.csv", "données/",
	"donnés.txt", "a\\b", "\033[31mred", "main.py" };

/* Lists files for a completion: those that begin with `start` and lie in the same folder. */
static void name_files(void *user, const char *start, struct buf *out)
{
	const char *slash = strrchr(start, '/');
	size_t n = slash ? (size_t)(slash - start) + 1 : 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		size_t part = strlen(files[i]) > n ? strcspn(files[i] + n, "/") : 0;

		if (part && str_starts(files[i], start) && strlen(files[i]) <= n + part + 1)
			buf_printf(out, "%s\n", files[i]);
	}
	buf_add_str(out, "\ncut"); /* an incomplete line, to be ignored */
}

static void test_completions(void **state)
{
	static const struct {
		const char *line, *insert, *list;
	} cases[] = {
		{ "sub", "mit ", "" },
		{ "scr", "oll_", "" },
		{ "scroll_", "", "scroll_down  scroll_up  " },
		{ "echo a;scroll_u", "p ", "" },
		{ "x=1 sub", "", "" },
		{ "sub main", ".py ", "" },
		{ "python ma", "in.py ", "" },
		{ "python <ma", "in.py ", "" },
		{ "./", "", "" },
		{ "data/o", "ne.csv ", "" },
		{ "cat data/t", "wo\\ words.csv ", "" },
		{ "cat data/two\\ w", "ords.csv ", "" },
		{ "cat data/", "", "one.csv  two words.csv  " },
		{ "cat a", "\\\\b ", "" },
		{ "cat a\\\\", "b ", "" },
		{ "ls da", "ta/", "" },
		{ "ls don", "n\xc3\xa9", "" },
		{ "ls donn\xc3\xa9", "",
				"donn\xc3\xa9"
				"es/  donn\xc3\xa9s.txt  " },
		{ "ls c", "", "" },
		{ "ls \033", "", "" },
		{ "ls nothing", "", "" },
		{ "", "s", "" },
	};
	const struct completion_source source = {
		.words = commands, .n_words = ARRAY_SIZE(commands), .names = name_files
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct completion c;

		completion_find(&source, cases[i].line, strlen(cases[i].line), &c);
		assert_string_equal(buf_str(&c.insert), cases[i].insert);
		assert_string_equal(buf_str(&c.list), cases[i].list);
		completion_release(&c);
	}
}

/* Completion ignores text after the cursor. A completion source may list no names. */
static void test_before_the_cursor(void **state)
{
	const struct completion_source source = { .words = commands,
		.n_words = ARRAY_SIZE(commands) };
	struct completion c;

	(void)state;
	completion_find(&source, "sub ma", 3, &c);
	assert_string_equal(buf_str(&c.insert), "mit ");
	completion_release(&c);
	completion_find(&source, "sub ma", 6, &c);
	assert_string_equal(buf_str(&c.insert), "");
	completion_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_completions),
		cmocka_unit_test(test_before_the_cursor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
