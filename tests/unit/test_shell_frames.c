/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox_fixture.h"

/*
 * An agent that writes to its shell's private pipe, or reads from its private socket. What is no frame of the loop's
 * costs it the shell and is told; no later command gets a wrong status from it.
 */

/* Restarted for what it did; the command after it is told rightly. */
static void assert_distrusted(const char *why)
{
	if (!did->integrity)
		fail_msg("nothing is said, outcome %s %d", outcome_name(did->outcome),
				did->exit_code);
	assert_has(did->integrity, why);
	assert_int_equal(did->outcome, SESSION_RESTARTED);
	assert_true(did->restarted);
	act("echo on; (exit 3)");
	assert_int_equal(did->outcome, SESSION_OK);
	assert_int_equal(did->exit_code, 3);
	assert_null(did->integrity);
	assert_string_equal(buf_str(did->output), "on\n");
}

static void test_written_frames(void **state)
{
	static const struct {
		const char *command, *why;
	} cases[] = {
		{ "echo x >&250", "wrong size" },
		{ "printf '%0128d' 0 >&250", "wrong number" },
		{ "printf '\\0%.0s' {1..16} >&250", "wrong number" },
		{ "printf '\\0%.0s' {1..15} >&250", "wrong size" },
		{ "python3 -ISc 'import os; os.write(1, bytes(5000))' >&250", "wrong number" },
		{ "for i in 1 2 3 4 5; do printf '%016d' $i >&250; done; exit 5", "wrong number" },
		{ "printf '%016d' 1 >&250; sleep 1000", "wrong number" },
		{ "printf '%016d' 1 >&250; exec sleep 1000", "wrong number" },
		{ "printf '%016d' 1 >&250; exec 250>&-", "wrong number" },
		{ "python3 -ISc 'import os\nwhile 1: os.write(1, b\"x\" * 16)' >&250",
				"wrong number" },
	};

	open_session(&(struct sandbox_options){ 0 });
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("%s\n", cases[i].command);
		act(cases[i].command);
		assert_distrusted(cases[i].why);
	}
	close_session();
}

/* Written between commands: the next one is not told to have done what it did not. */
static void test_written_ahead(void **state)
{
	open_session(&(struct sandbox_options){ 0 });
	act("mkfifo /tmp/f; (read x </tmp/f; printf '%016d' 1 >&250; echo >/tmp/f) & :");
	assert_int_equal(did->exit_code, 0);
	act("echo >/tmp/f; read x </tmp/f; (exit 7)");
	assert_distrusted("wrong number");
	/* A job that goes on writing has the pipe of a shell that is gone. */
	act("(trap '' PIPE; while :; do printf '%016d' 1 >&250; done) 2>/dev/null &");
	while (!did->integrity)
		act("(exit 7)");
	assert_distrusted("wrong number");
	close_session();
}

/* Plays the loop for one command: answers in its place, with its own number. */
#define ANSWER(answer)                                                                             \
	"python3 -ISc '\n"                                                                         \
	"import os, struct\n"                                                                      \
	"n = os.read(0, 70000)[:8]\n"                                                              \
	"os.write(1, n + " answer ")' <&253 >&250 & read -t 0.1 <>/tmp/never"

/* Who reads the number may answer: that is the agent's word, in the bounds of a status. */
static void test_stolen_commands(void **state)
{
	static const struct {
		const char *job;
		int exit_code;
		const char *cwd, *integrity;
	} cases[] = {
		{ ANSWER("struct.pack(\"II\", 0, 42) + b\"/evil\""), 42, "/evil", NULL },
		{ ANSWER("struct.pack(\"II\", 99, 0xffffffff)"), 255, "", NULL },
		{ ANSWER("struct.pack(\"II\", 0, 42) + b\"/a\\0b\""), 137, NULL, "working dir" },
		{ ANSWER("b\"1234567\""), 137, NULL, "wrong size" },
	};

	open_session(&(struct sandbox_options){ 0 });
	act("mkfifo /tmp/never");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		act(cases[i].job);
		do { /* whichever of the two readers is the first */
			act("echo mine");
		} while (strcmp(buf_str(did->output), "mine\n") == 0);
		assert_int_equal(did->exit_code, cases[i].exit_code);
		assert_string_equal(buf_str(did->output), "");
		if (cases[i].cwd)
			assert_string_equal(did->cwd, cases[i].cwd);
		if (cases[i].integrity)
			assert_distrusted(cases[i].integrity);
		else
			assert_null(did->integrity);
	}
	act("exit 3");
	assert_int_equal(did->exit_code, 3);
	close_session();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_frames),
		cmocka_unit_test(test_written_ahead),
		cmocka_unit_test(test_stolen_commands),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
