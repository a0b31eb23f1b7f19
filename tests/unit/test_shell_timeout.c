/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox_fixture.h"

#include "base/clock.h"

#include <errno.h>

/*
 * Runs commands that never end by themselves, until their timeout. The shell then has its variables
 * and functions. Processes of the command are gone, and an earlier job runs on. The job begins just
 * before the command, so that start times in clock ticks can't tell them apart.
 */

#define TIMEOUT_MS 150

static const char prepare[] = "trap - INT EXIT DEBUG ERR RTMAX-1 TERM HUP; set +e +m +T\n"
			      "A=7; f() { echo f$A; }; rm -f /tmp/fifo; mkfifo /tmp/fifo\n"
			      "sleep 100000 & echo $! >/tmp/earlier";

/*
 * Waits until four processes are left: PID 1, the porter, the shell and the earlier job. Killed
 * processes take a moment to end. If a timeout interrupted `wait`, bash reaps children only when it
 * next waits.
 */
static const char look[] =
		"trap - DEBUG EXIT ERR\n"
		"for ((i = 0; i < 1000; i++)); do\n"
		"\tset -- /proc/[0-9]*; (($# == 4)) && break; (:); read -t 0.01 <>/tmp/fifo\n"
		"done\n"
		"(($# == 4)) || for p; do read -r l <$p/stat && echo \"$l\"; done\n"
		"kill -9 $(</tmp/earlier) && echo $# && f";

static const char *const hangs[] = {
	"sleep 30",
	"while :; do :; done",
	"while true; do sleep 1; done",
	"for ((;;)); do :; done",
	"for i in 1 2 3; do sleep 20; done; echo after",
	"f2() { f3; }; f3() { while :; do :; done; }; f2",
	"sleep 30 | cat",
	"x=$(sleep 30); echo after",
	"x=$(while :; do :; done); echo after",
	"(while :; do :; done)",
	"wait_for() { sleep 30 & wait; }; wait_for",
	"wait",
	"sleep 30 & wait $!; echo after",
	"while ! false; do wait; done",
	"read x </tmp/fifo",
	"read x < <(sleep 30)",
	"exec 5</tmp/fifo",
	"echo x >/tmp/fifo",
	"trap '' INT; while :; do :; done",
	"trap '' INT TERM HUP; sleep 30; sleep 31; sleep 32",
	"trap 'echo trapped' INT; while :; do :; done",
	"trap '' RTMAX-1 INT; while :; do :; done",
	"trap 'echo got' RTMAX-1; while :; do :; done",
	"trap 'while :; do :; done' EXIT; sleep 30",
	"trap : DEBUG; while :; do :; done",
	"set -T; trap false DEBUG; while :; do :; done",
	"trap 'sleep 30' ERR; false; echo after",
	"trap 'sleep 30' INT; sleep 30",
	"python3 -ISc 'import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(30)'",
	"python3 -ISc 'import os, time; os.setsid(); time.sleep(30)'",
	"python3 -ISc 'import os, time; os.fork(); os.fork(); time.sleep(30)'",
	"echo {1..30000000} >/dev/null",
	"until false; do :; done & while :; do :; done",
	"sleep 30 & sleep 30 & disown -a; while :; do :; done",
	"(trap '' INT TERM; sleep 30; sleep 30) & while :; do :; done",
	"setsid sleep 30 & nohup sleep 30 >/dev/null & sleep 30",
	"sleep 30 & kill -STOP $!; wait",
	"select x in a b; do :; done < <(sleep 30)",
	"eval 'while :; do :; done'",
	"source /dev/stdin <<<'while :; do :; done'",
	"coproc sleep 30; wait",
	"set -e; while :; do :; done",
	"set -m; sleep 30",
	"set -m; sleep 30 | sleep 30",
	"set -m; sleep 30 & fg",
	"kill -STOP $$; while :; do :; done",
	"mapfile < <(yes)",
	"read -N 1000000000 x </dev/zero",
	"while read x; do :; done < <(yes)",
	"shopt -s lastpipe; sleep 30 | while read x; do :; done",
	"yes",
	"cat /dev/zero >/dev/null",
	"setsid -w sleep 30",
	"flock /tmp/lock sleep 30",
	"bash -c 'trap \"\" INT; while :; do sleep 1; done'",
	"timeout 30 sleep 30",
};

static void test_hangs(void **state)
{
	open_session(&(struct sandbox_options){ 0 });
	for (size_t i = 0; i < ARRAY_SIZE(hangs); i++) {
		act(prepare);
		assert_int_equal(did->outcome, SESSION_OK);
		act_within(hangs[i], TIMEOUT_MS);
		if (did->outcome != SESSION_TIMEOUT || did->restarted)
			fail_msg("'%s': %s %d, restarted is %d", hangs[i],
					outcome_name(did->outcome), did->exit_code, did->restarted);
		act(look);
		if (!strstr(buf_str(did->output), "4\nf7\n"))
			fail_msg("after '%s': '%s'", hangs[i], buf_str(did->output));
	}
	close_session();
}

#define WIDE "%1000000000d%1000000000d%1000000000d%1000000000d%1000000000d"

/* Commands that only a kill of the shell ends. While bash prints one wide number, it handles no
 * signal. A number takes half a second of CPU time, so a shell that prints its last one may
 * survive. */
static void test_hangs_that_end_the_shell(void **state)
{
	static const char *const kinds[] = {
		"printf '" WIDE WIDE WIDE WIDE "' 1 >/dev/null",
		"exec sleep 30",
		"exec bash -c 'trap \"\" INT; while :; do :; done'",
		"exec 250<&-; exec sleep 30",
		"(exec dd bs=1 count=100000 >/dev/null 2>&1 <&250) & read x <>/tmp/fifo",
	};

	open_session(&(struct sandbox_options){ 0 });
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		act(prepare);
		act_within(kinds[i], TIMEOUT_MS);
		/* printf handles signals between numbers, so a fast machine may keep its shell. */
		bool either = i == 0;

		if (did->outcome != SESSION_TIMEOUT || (!either && (i < 4) != did->restarted))
			fail_msg("'%s': %s, restarted is %d", kinds[i], outcome_name(did->outcome),
					did->restarted);
		act(look);
		if (!strstr(buf_str(did->output), "4\n")) /* the command's dd may end late */
			act(look);
		assert_has(buf_str(did->output), "4\n");
	}
	close_session();
}

static void test_what_was_written_before(void **state)
{
	open_session(&(struct sandbox_options){ 0 });
	act_within("echo begun; echo error >&2; sleep 30; echo never", 300);
	assert_int_equal(did->outcome, SESSION_TIMEOUT);
	assert_string_equal(buf_str(did->output), "begun\nerror\n");
	assert_string_equal(buf_str(act("echo clean")->output), "clean\n");
	/* If a command both prints too much and times out, the timeout is reported. */
	act_within("yes", 1000);
	assert_int_equal(did->outcome, SESSION_TIMEOUT);
	assert_int_equal(did->output->len, 1 << 20);
	close_session();
}

/* A timeout interrupts by SIGINT. The agent's own trap on it stays as it was. */
static void test_traps_stay(void **state)
{
	static const struct turn turns[] = {
		{ "trap 'echo int' INT", "" },
		{ "while :; do :; done", NULL, 130, SESSION_TIMEOUT, .timeout_ms = TIMEOUT_MS },
		{ "kill -INT $$", "int\n" },
		{ "sleep 30", NULL, 130, SESSION_TIMEOUT, .timeout_ms = TIMEOUT_MS },
		{ "kill -INT $$", "int\n" },
		{ "trap '' INT", "" },
		{ "while :; do :; done", NULL, 130, SESSION_TIMEOUT, .timeout_ms = TIMEOUT_MS },
		{ "kill -INT $$; echo on", "on\n" },
		{ "trap - INT", "" },
		{ "while :; do :; done", NULL, 130, SESSION_TIMEOUT, .timeout_ms = TIMEOUT_MS },
		{ "kill -INT $$; echo on", "", 130, SESSION_RESTARTED },
	};

	PLAY(turns);
}

/* If a command ends just at its deadline, its timeout must not hit the next command. */
static void test_at_the_deadline(void **state)
{
	open_session(&(struct sandbox_options){ 0 });
	act("A=7");
	for (int i = 0; i < 60; i++) {
		act_within("sleep 0.02", 20 + i % 10);
		assert_true(did->outcome == SESSION_OK || did->outcome == SESSION_TIMEOUT);
		assert_false(did->restarted);
		act("for ((i = 0; i < 2000; i++)); do :; done; echo $A");
		assert_int_equal(did->outcome, SESSION_OK);
		assert_int_equal(did->exit_code, 0);
		assert_has(buf_str(did->output), "7\n");
	}
	close_session();
}

static void test_cancel(void **state)
{
	int64_t began = clock_now_ns();

	open_session(&(struct sandbox_options){ 0 });
	act("A=7");
	assert_done(session_begin(session, "echo begun; sleep 1000", PATIENCE_MS, true, &error));
	assert_int_equal(session_begin(session, "echo", 0, false, &error), -EBUSY);
	session_cancel(session);
	session_cancel(session);
	while (!session_advance(session)) {
		struct waits w = WAITS_INIT;

		session_waits(session, &w);
		waits_poll(&w);
	}
	did = session_result(session);
	assert_false(did->restarted);
	assert_int_not_equal(did->outcome, SESSION_GONE);
	session_cancel(session); /* no effect: no command runs */
	act("echo $A");
	assert_has(buf_str(did->output), "7\n");
	assert_true(clock_now_ns() - began < PATIENCE_MS * NS_PER_MS);
	close_session();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_hangs_that_end_the_shell),
		cmocka_unit_test(test_what_was_written_before),
		cmocka_unit_test(test_traps_stay),
		cmocka_unit_test(test_at_the_deadline),
		cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
