/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox_fixture.h"

#include "base/mem.h"

/*
 * Lets an agent write to its shell's private eventfd, and to the memory by which its shell reports
 * results. If an answer is invalid, the shell is restarted and the step reports it. No later
 * command gets a wrong status.
 */

/* Expects that the shell was restarted because of an invalid answer, and that the next command's
 * result is right. */
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

/* Programs of an agent inherit only the shell's eventfd. Writing to it wakes the owner, with no
 * further effect. */
static void test_written_event(void **state)
{
	static const char *const cases[] = {
		"echo x >&250",
		"printf '%08d' 0 >&250",
		"python3 -ISc 'import os; os.write(1, bytes(5000))' >&250",
		"for i in 1 2 3 4 5; do printf '%08d' $i >&250; done",
		"python3 -ISc 'import os\nwhile 1: os.write(1, b\"\\1\" + bytes(7))' >&250 &",
	};

	open_session(&(struct sandbox_options){ 0 });
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("%s\n", cases[i]);
		act(cases[i]);
		act("sleep 0.05; echo on; (exit 3)");
		assert_int_equal(did->outcome, SESSION_OK);
		assert_int_equal(did->exit_code, 3);
		assert_null(did->integrity);
		assert_string_equal(buf_str(did->output), "on\n");
	}
	close_session();
}

/*
 * Only the shell can reach the memory by which it gets commands. So the agent loads code into it.
 * The code finds that memory by the text of the command that loads it. A thread then acts during
 * the next command.
 */
static const char spy[] =
		"cat >/tmp/spy.c <<'END'\n"
		"#include <pthread.h>\n"
		"#include <string.h>\n"
		"#include <sys/mman.h>\n"
		"#include <unistd.h>\n"
		"static struct mail { volatile unsigned turn, listening, answered;\n"
		"	long began; int last_pid;\n"
		"	struct { long nonce; unsigned end, status, cwd, output; } said;\n"
		"	long nonce; unsigned flags, length; char text[8 << 20], answer[]; } *mail;\n"
		"static unsigned mine;\n"
		"static void answer(int end, int status, const char *cwd, int n, int output)\n"
		"{\n"
		"	long one = 1;\n"
		"	mail->said.nonce = mail->nonce;\n"
		"	mail->said.end = end;\n"
		"	mail->said.status = status;\n"
		"	mail->said.cwd = n;\n"
		"	mail->said.output = output;\n"
		"	memcpy(mail->answer, cwd, n < 9 ? n : 0);\n"
		"	__sync_synchronize();\n"
		"	mail->answered = mail->turn;\n"
		"	n = write(250, &one, 8);\n"
		"}\n"
		"static void *thread(void *none)\n"
		"{\n"
		"	while (mail->turn == mine)\n"
		"		;\n"
		"	usleep(50000);\n" /* wait until the shell runs the command */
		"	DO;\n"
		"	return none;\n"
		"}\n"
		"__attribute__((constructor)) static void begin(void)\n"
		"{\n"
		"	char *at = mmap(0, 64 << 20, 0, 34, -1, 0);\n"
		"	char seen[128];\n"
		"	pthread_t t;\n"
		"	int p[2];\n"
		"	pipe(p);\n"
		"	do {\n"
		"		mail = (void *)(at += 4096);\n"
		"	} while (write(p[1], at, 128) != 128 || read(p[0], seen, 128) != 128 ||\n"
		"		 memcmp(mail->text, \"enable -f\", 9));\n"
		"	mine = mail->turn;\n"
		"	pthread_create(&t, 0, thread, 0);\n"
		"}\n"
		"END\n";

static void load_spy(const char *does)
{
	auto_free char *compile = xasprintf(
			"gcc -D_GNU_SOURCE -shared -Wl,-z,nodelete -fPIC -w -O1 -o /tmp/spy.so /tmp/spy.c '-DDO=%s'",
			does);

	act(spy);
	act(compile);
	assert_string_equal(buf_str(did->output), "");
	act("enable -f /tmp/spy.so spy 2>/dev/null");
	assert_false(did->restarted);
}

/* Loaded code may answer in place of the shell, with the command's number. The owner believes a
 * valid answer. The shell's own answer comes too late, and does not count for the next command. */
static void test_answered_for_it(void **state)
{
	static const struct {
		const char *does;
		int exit_code;
		const char *cwd, *integrity;
	} cases[] = {
		{ "answer(0, 42, \"/evil\", 5, 0)", 42, "/evil", NULL },
		{ "answer(99, -1, \"\", 0, 0)", 255, "", NULL },
		{ "answer(0, 42, \"/a\\0b\", 4, 0)", 137, NULL, "working dir" },
		{ "answer(0, 42, \"\", 5000, 0)", 137, NULL, "wrong size" },
		{ "answer(0, 42, \"\", 0, 2 << 20)", 137, NULL, "wrong size" },
	};

	open_session(&(struct sandbox_options){ 0 });
	act("mkfifo /tmp/never");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("%s\n", cases[i].does);
		load_spy(cases[i].does);
		act("read -t 1 <>/tmp/never");
		assert_int_equal(did->exit_code, cases[i].exit_code);
		if (cases[i].cwd)
			assert_string_equal(did->cwd, cases[i].cwd);
		if (cases[i].integrity) {
			assert_distrusted(cases[i].integrity);
			continue;
		}
		assert_null(did->integrity);
		act("(exit 4)");
		assert_null(did->integrity);
		assert_int_equal(did->exit_code, 4);
		act("kill -9 $$"); /* code can't be unloaded: restart */
	}
	close_session();
}

/* An agent must not punch holes into the memory that its shell shares with the owner. The owner
 * could have to wait at each hole. */
static void test_its_pages_stay(void **state)
{
	open_session(&(struct sandbox_options){ 0 });
	load_spy("if (madvise((void *)mail, 9 << 20, MADV_REMOVE) == 0) _exit(9)");
	act("sleep 0.2; echo held");
	assert_string_equal(buf_str(did->output), "held\n");
	assert_false(did->restarted);
	close_session();
}

/* Code that overwrites the memory shared with the owner harms only its own shell: the owner trusts
 * none of it. */
static void test_scribbled_memory(void **state)
{
	static const char *const does[] = {
		"for (;;) memset((void *)mail, 255, 72)",
		"for (;;) mail->answered = mail->turn",
		"for (;;) memset((void *)mail, 0, 72 + (8 << 20))",
		"munmap((void *)mail, 72 + (9 << 20))",
	};

	for (size_t i = 0; i < ARRAY_SIZE(does); i++) {
		open_session(&(struct sandbox_options){ 0 });
		load_spy(does[i]);
		act_within("sleep 0.01; (exit 3)", 200);
		for (int n = 0; n < 4 && !did->restarted; n++)
			act_within("(exit 3)", 200);
		while (!did->restarted)
			act_within("kill -9 $$", 200);
		assert_string_equal(buf_str(act("echo on")->output), "on\n");
		close_session();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_event),
		cmocka_unit_test(test_answered_for_it),
		cmocka_unit_test(test_its_pages_stay),
		cmocka_unit_test(test_scribbled_memory),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
