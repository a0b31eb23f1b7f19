/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "sandbox_fixture.h"

#include <signal.h>
#include <time.h>

/* Runs commands that end, replace, kill, stop or damage the shell. The result tells so, and the
 * next command works in a new shell. */

#define R SESSION_RESTARTED

static void test_exit_and_exec(void **state)
{
	static const struct turn turns[] = {
		{ "A=7; f() { echo f$A; }; cd /tmp; echo x >kept", "" },
		{ "f", "f7\n" },
		{ "echo last; exit 3", "last\n", 3, R },
		{ "f; pwd; cat /tmp/kept", NULL, 0, 0,
				"command not found\n/home/agent/workspace\nx\n" },
		{ "echo $?", "0\n" },
		{ "exit", "", 0, R },
		{ "false; exit", "", 1, R },
		{ "exit 300", "", 44, R },
		{ "exit -1", "", 255, R },
		{ "exec true", "", 0, R },
		{ "exec bash -c 'echo replaced; exit 9'", "replaced\n", 9, R },
		{ "exec no-such-program", NULL, 127, R, "not found" },
		{ "shopt -s execfail; exec no-such-program; echo still", NULL, 0, 0, "still\n" },
		{ "logout", NULL, 1, 0, "not login shell" },
		{ "suspend", NULL, 1, 0, "no job control" },
		{ "return 5", NULL, 2, 0, "can only" },
		{ "break; continue; echo on", NULL, 0, 0, "on\n" },
		{ "(exit 5)", "", 5 },
		{ "(exit 5); exit", "", 5, R },
		{ "bash -c 'kill -9 $$'", NULL, 137, 0, "Killed" },
		{ "exit | cat; echo on", "on\n" },
		{ "x=$(exit 3); echo $?", "3\n" },
	};

	PLAY(turns);
}

static void test_cwd_is_told(void **state)
{
	open_session(&(struct sandbox_options){ 0 });
	assert_string_equal(act("cd /tmp")->cwd, "/tmp");
	assert_string_equal(act("exit 3")->cwd, "/home/agent/workspace");
	assert_int_equal(WEXITSTATUS(did->shell_status), 3);
	assert_string_equal(act("pwd")->cwd, "/home/agent/workspace");
	assert_string_equal(act("cd /; kill -9 $$")->cwd, "/home/agent/workspace");
	assert_int_equal(did->shell_status, SIGKILL);
	close_session();
}

/* The shell's end is noticed even if background processes hold its descriptors open. */
static void test_exit_with_jobs(void **state)
{
	static const struct turn turns[] = {
		{ "sleep 1000 & (sleep 1000; echo never) & disown -a; exit 2", NULL, 2, R },
		{ "sleep 1000 & exec true", NULL, 0, R },
		/* wait: a process takes the name `sleep` only some time after its start */
		{ "timeout 100 bash -c 'until [ $(pgrep -c sleep) = 3 ]; do :; done'; echo $?",
				"0\n" },
	};

	PLAY(turns);
}

static void test_descriptors(void **state)
{
	static const struct turn turns[] = {
		{ "exec 1>&- 2>&- 0<&-", "" },
		{ "echo seen; read x; echo $?", "seen\n1\n" },
		{ "exec 1>/dev/null 2>&1; echo unseen", "" },
		{ "echo seen; echo error >&2", "seen\nerror\n" },
		{ "exec 0</etc/passwd; read x; echo \"${x%%:*}\"", "root\n" },
		{ "read x; echo \"$?$x\"", "1\n" },
		{ "exec 5</etc/passwd", "" },
		{ "read -u 5 x; echo \"${x%%:*}\"", "root\n" },
		{ "exec {fd}>/tmp/file; echo text >&$fd; exec {fd}>&-; cat /tmp/file", "text\n" },
		/* The loop's own. */
		{ "exec 250>&-", "", 125, R },
		{ "echo a", "a\n" },
		{ "echo said; exec 251>&-", "said\n", 125, R },
		{ "echo a", "a\n" },
		{ "exec 252>&-", "", 125, R },
		{ "echo a", "a\n" },
		{ "exec 253>&-", "" },
		{ "echo a", "a\n" },
		{ "exec 251>&- 251>/tmp/stolen", "", 125, R },
		{ "exec 250>&- 250>/tmp/stolen", "", 125, R },
		{ "for i in {0..255}; do eval \"exec $i>&-\"; done", "", 125, R },
		{ "echo a; cat /tmp/stolen", "a\n" },
		/* If a command redirects descriptors that the shell keeps for itself, that lasts
		 * for this command only. */
		{ "exec 251>/tmp/x 252</dev/zero", "" },
		{ "echo a; read x; echo $?", "a\n1\n" },
	};

	PLAY(turns);
}

/* Waiting must use little CPU time after a command closed the output pipes. A pipe without a writer
 * is always ready to read. */
static void test_nobody_could_write(void **state)
{
	static const char *const closed[] = { "251>&-", "250>&- 251>&-" };

	open_session(&(struct sandbox_options){ 0 });
	for (size_t i = 0; i < ARRAY_SIZE(closed); i++) {
		auto_free char *command =
				xasprintf("exec >/dev/null 2>&1 %s; sleep 1; exit 3", closed[i]);
		clock_t before = clock();

		act(command);
		assert_true(clock() - before < CLOCKS_PER_SEC / 4);
		assert_true(did->restarted);
		assert_string_equal(buf_str(act("echo a")->output), "a\n");
	}
	close_session();
}

static void test_nonblocking_output(void **state)
{
	static const char set[] = "python3 -ISc 'import fcntl, os\n"
				  "fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)'";

	open_session(&(struct sandbox_options){ 0 });
	for (int i = 0; i < 3; i++) {
		assert_int_equal(act(set)->exit_code, 0);
		act("head -c 900000 /dev/zero | tr '\\0' x");
		assert_int_equal(did->exit_code, 0);
		assert_int_equal(did->output->len, 900000);
	}
	close_session();
}

static void test_signals_to_itself(void **state)
{
	static const struct turn turns[] = {
		{ "kill -9 $$", NULL, 137, R },
		{ "kill -TERM $$; echo alive", "", 143, R },
		{ "kill -HUP $$; echo alive", "", 129, R },
		{ "kill -SEGV $$; echo alive", "", 139, R },
		{ "kill -INT $$; echo alive", "", 130, R },
		{ "kill -STOP $$; echo woken", "woken\n" },
		{ "kill -TSTP $$; echo woken", "woken\n" },
		{ "kill -PIPE $$; echo alive", "", 141, R },
		{ "sleep 1000 & kill -9 -1; wait; echo alive", NULL, 0, 0, "alive\n" },
		{ "pgrep sleep", "", 1 },
		/* bash tells of a killed job in the step in which it sees its end */
		{ "sleep 1000 & kill -9 $!; while kill -0 $! 2>/dev/null; do :; done; echo on",
				NULL, 0, 0, "Killed" },
		{ "/bin/true", "" },
		{ "kill -9 0", "", 137, R },
		{ "kill -9 1; echo alive", NULL, 0, 0, "alive\n" },
		{ "kill -RTMAX $$; echo alive", "", 192, R },
		{ "echo after", "after\n" },
	};

	PLAY(turns);
}

static void test_traps(void **state)
{
	static const struct turn turns[] = {
		{ "trap 'echo D' DEBUG", "" }, { "echo x", "D\nx\n" }, { "trap - DEBUG", "D\n" },
		{ "trap 'echo bye' EXIT", "" }, { "echo x", "x\n" }, { "exit 4", "bye\n", 4, R },
		{ "trap 'exit 6' EXIT; exit 4", "", 6, R },
		{ "trap 'exec true' EXIT; exit 4", "", 0, R },
		{ "trap 'echo E' ERR; false; true", "E\n" },
		{ "trap - ERR; trap 'exit 5' DEBUG", "" }, { "echo x", "", 5, R },
		{ "trap 'exit 5' ERR; echo x; false; echo y", "x\n", 5, R },
		{ "trap 'echo int' INT; kill -INT $$", "int\n" },
		{ "trap 'echo term' TERM; kill -TERM $$; echo on", "term\non\n" },
		{ "trap '' TERM; kill -TERM $$; bash -c 'kill -TERM $$; echo child'", "child\n" },
		{ "trap 'echo ret' RETURN; f() { :; }; set -T; f", "ret\n" },
		{ "trap", NULL, 0, 0, "RETURN" },
		{ "set +T; trap - INT TERM RETURN; shopt -s extdebug; trap false DEBUG", NULL, 0 },
		{ "echo skipped; exit 3", "" }, /* a DEBUG trap of the agent skips all commands */
	};

	PLAY(turns);
}

/* If an agent sends the shell the signal of a timeout, the running command is interrupted. The next
 * one is not. */
static void test_own_signal(void **state)
{
	static const struct turn turns[] = {
		{ "A=7", "" },
		{ "trap '' RTMAX-1; echo t; kill -RTMAX-1 $$; echo u", "t\n", 130 },
		{ "kill -RTMAX-1 $$; echo u", "", 130 },
		{ "echo $A; trap 'echo int' INT", "7\n" },
		{ "kill -RTMAX-1 $$; echo u", "", 130 },
		{ "kill -INT $$; echo on", "int\non\n" },
		{ "(sleep 0.1; kill -RTMAX-1 $$) & while :; do :; done", "", 130 },
		{ "echo $A", NULL, 0, 0, "7\n" },
	};

	PLAY(turns);
}

static void test_set_e_and_errors_that_end(void **state)
{
	static const struct turn turns[] = {
		{ "set -e; false; echo no", "", 1, R },
		{ "set -e; f() { false; echo no; }; f", "", 1, R },
		{ "set -e; ! true; if false; then :; fi; echo yes", "yes\n" },
		{ "(exit 3)", "", 3, R },
		{ "echo $-", "hBs\n" },
		{ "set -u; echo $nope; echo no", NULL, 1, 0, "unbound variable" },
		{ "echo $-", "huBs\n" },
		{ "exit", "", 0, R },
		{ "echo ${nope?is missing}; echo no", NULL, 1, 0, "is missing" },
		{ "readonly r=1; r=2; echo no", NULL, 1, 0, "readonly" },
		{ "echo $((1/0)); echo no", NULL, 1, 0, "division by 0" },
		{ "echo a; echo ${x!}; echo no", NULL, 1, 0, "bad substitution" },
		{ "set -o posix; . no-such-file; echo no", NULL, 1, R, "not found" },
		{ "ulimit -s 64; f() { f; }; f", NULL, 139, R },
		{ "echo on", "on\n" },
	};

	PLAY(turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_and_exec),
		cmocka_unit_test(test_cwd_is_told),
		cmocka_unit_test(test_exit_with_jobs),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_nobody_could_write),
		cmocka_unit_test(test_nonblocking_output),
		cmocka_unit_test(test_signals_to_itself),
		cmocka_unit_test(test_traps),
		cmocka_unit_test(test_own_signal),
		cmocka_unit_test(test_set_e_and_errors_that_end),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
