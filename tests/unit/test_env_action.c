/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "env/action.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Finds out an action's kind by its text, and its timeout. */

static void test_kinds(void **state)
{
	static const struct {
		const char *text;
		enum action_kind kind;
		const char *word;
	} cases[] = {
		{ "ls", ACTION_COMMAND },
		{ "", ACTION_COMMAND },
		{ "\n", ACTION_COMMAND },
		{ "skip", ACTION_SKIP, "skip" },
		{ "  skip \r\n", ACTION_SKIP, "skip" },
		{ "skip it", ACTION_COMMAND },
		{ "skipped", ACTION_COMMAND },
		{ "exit_forfeit\n", ACTION_FORFEIT, "exit_forfeit" },
		{ "exit_context", ACTION_EXIT, "exit_context" },
		{ "exit_cost", ACTION_EXIT, "exit_cost" },
		{ "exit_error", ACTION_EXIT, "exit_error" },
		{ "exit_format", ACTION_EXIT, "exit_format" },
		{ "exit_api", ACTION_EXIT, "exit_api" },
		{ "exit_costs", ACTION_COMMAND },
		{ "exit_nothing", ACTION_COMMAND },
		{ "echo exit_cost", ACTION_COMMAND },
		{ "exit 3", ACTION_COMMAND },
		{ "submit", ACTION_COMMAND },
		{ "edit 1:2\nx\nend_of_edit", ACTION_COMMAND },
		{ "edit 1:2\nx\n", ACTION_MALFORMED_EDIT },
		{ "edit  12:30", ACTION_MALFORMED_EDIT },
		{ "\nedit\t1:2\nend_of_edi", ACTION_MALFORMED_EDIT },
		{ "edit 1:", ACTION_COMMAND },
		{ "edit :1", ACTION_COMMAND },
		{ "edit 1", ACTION_COMMAND },
		{ "edit", ACTION_COMMAND },
		{ "edits 1:2", ACTION_COMMAND },
		{ "edit1:2", ACTION_COMMAND },
		{ "echo edit 1:2", ACTION_COMMAND },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *word = NULL;

		print_message("'%s'\n", cases[i].text);
		assert_int_equal(action_kind(cases[i].text, &word), cases[i].kind);
		if (cases[i].word)
			assert_string_equal(word, cases[i].word);
		else
			assert_null(word);
	}
}

static void test_trains(void **state)
{
	assert_true(action_trains("python train.py"));
	assert_true(action_trains("cd src && python3 -u train.py"));
	assert_true(action_trains("torchrun --standalone train.py"));
	assert_true(action_trains("accelerate launch x"));
	assert_true(action_trains("deepspeed x"));
	assert_false(action_trains("ls"));
	assert_false(action_trains("pytho n"));
	assert_false(action_trains(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_trains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
