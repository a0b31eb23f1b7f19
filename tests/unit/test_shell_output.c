/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox_fixture.h"

#include "base/mem.h"
#include "proto/guest.h"

#include <errno.h>
#include <stdlib.h>

/* Tests long outputs, long commands, odd working directories, and jobs that write later. */

#define R SESSION_RESTARTED

static void test_much_output(void **state)
{
	open_session(&(struct sandbox_options){ 0 });
	act("head -c 3000000 /dev/zero | tr '\\0' y; echo end; (exit 4)");
	assert_int_equal(did->outcome, SESSION_OUTPUT_LIMIT);
	assert_int_equal(did->exit_code, 4);
	assert_int_equal(did->output->len, 1 << 20);
	assert_int_equal(strspn(did->output->data, "y"), 1 << 20);
	assert_string_equal(buf_str(act("echo after")->output), "after\n");
	/* Output of exactly the limit is not cut. */
	act("head -c 1048576 /dev/zero");
	assert_int_equal(did->outcome, SESSION_OK);
	assert_int_equal(did->output->len, 1 << 20);
	act("head -c 1048577 /dev/zero");
	assert_int_equal(did->outcome, SESSION_OUTPUT_LIMIT);
	act("head -c 3000000 /dev/zero; exit 3");
	assert_int_equal(did->outcome, SESSION_RESTARTED);
	assert_int_equal(did->exit_code, 3);
	close_session();
}

static void test_any_bytes(void **state)
{
	char all[256];

	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	open_session(&(struct sandbox_options){ 0 });
	act("python3 -ISc 'import os; os.write(1, bytes(range(256)))'");
	assert_int_equal(did->output->len, 256);
	assert_memory_equal(did->output->data, all, 256);
	act("printf 'a\\0b'");
	assert_int_equal(did->output->len, 3);
	assert_memory_equal(did->output->data, "a\0b", 4);
	close_session();
}

/* x='aaa...'; echo ${#x} */
static char *long_command(size_t length, const char *filler)
{
	static const char head[] = "x='", tail[] = "'; echo ${#x}";
	char *text = malloc(length + 1);
	size_t n = length - strlen(head) - strlen(tail);

	assert_non_null(text);
	strncpy(text, head, length);
	for (size_t i = 0; i < n; i++)
		text[strlen(head) + i] = filler[i % strlen(filler)];
	memcpy(text + strlen(head) + n, tail, sizeof(tail));
	return text;
}

static void test_long_commands(void **state)
{
	static const size_t lengths[] = { 4000, 4096, 65536, 1 << 20, SHELL_COMMAND_MAX };

	open_session(&(struct sandbox_options){ 0 });
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		auto_free char *lines = long_command(lengths[i], "some text\n");
		auto_free char *line = long_command(lengths[i], "a");
		char expected[32];

		snprintf(expected, sizeof(expected), "%zu\n", lengths[i] - 16);
		assert_string_equal(buf_str(act(line)->output), expected);
		assert_string_equal(buf_str(act(lines)->output), expected);
		snprintf(expected, sizeof(expected), "%zu\n", lengths[i]);
		assert_string_equal(buf_str(act("echo ${#LAST_ACTION}")->output), expected);
	}
	close_session();
}

static void test_too_long_command(void **state)
{
	auto_free char *line = long_command(SHELL_COMMAND_MAX + 1, "a");

	open_session(&(struct sandbox_options){ 0 });
	assert_int_equal(session_command(session, line, 0, true, &error), -E2BIG);
	assert_string_equal(buf_str(act("echo on")->output), "on\n");
	close_session();
}

/* If the shell is killed while it reads a long command, the next command works. */
static void test_long_command_lost(void **state)
{
	auto_free char *line = long_command(SHELL_COMMAND_MAX, "a");

	open_session(&(struct sandbox_options){ 0 });
	act("mkfifo /tmp/never; (read -t 0.02 <>/tmp/never; kill -9 $$) &");
	do {
		act(line);
		assert_true(did->outcome == SESSION_OK || did->outcome == SESSION_RESTARTED);
	} while (!did->restarted);
	assert_string_equal(buf_str(act("echo on")->output), "on\n");
	assert_string_equal(buf_str(act("echo on")->output), "on\n");
	close_session();
}

/* If a job writes after its step's end, the output belongs to the next step. */
static void test_later_output(void **state)
{
	open_session(&(struct sandbox_options){ 0 });
	act("mkfifo /tmp/go; (read x </tmp/go; echo later; echo >/tmp/go) &");
	assert_string_equal(buf_str(did->output), "");
	assert_string_equal(buf_str(act("echo now")->output), "now\n");
	act("echo >/tmp/go; read x </tmp/go; echo then");
	assert_string_equal(buf_str(did->output), "later\nthen\n");
	/* A job that never stops writing does not keep a step from ending. */
	act("yes & echo $! >/tmp/yes");
	assert_true(did->outcome == SESSION_OK || did->outcome == SESSION_OUTPUT_LIMIT);
	for (int i = 0; i < 20; i++) {
		act("(exit 3)");
		assert_int_equal(did->exit_code, 3);
	}
	act("kill $(</tmp/yes); wait");
	act("echo clean");
	assert_has(buf_str(did->output), "clean\n");
	close_session();
}

static void test_many_jobs(void **state)
{
	open_session(&(struct sandbox_options){ 0 });
	act("for i in {1..1500}; do : & done; echo begun");
	assert_string_equal(buf_str(did->output), "begun\n");
	act("wait; jobs -r | wc -l");
	assert_string_equal(buf_str(did->output), "0\n");
	act("for i in {1..200}; do sleep 1000 & done; jobs -r | wc -l");
	assert_string_equal(buf_str(did->output), "200\n");
	act("kill $(jobs -p); wait; jobs -r | wc -l");
	assert_has(buf_str(did->output), "0\n");
	close_session();
}

static void test_folders(void **state)
{
	static const struct turn turns[] = {
		{ "mkdir /tmp/gone; cd /tmp/gone; rmdir /tmp/gone", "" },
		{ "ls; pwd; echo on", "/tmp/gone\non\n" },
		{ "echo x >file", NULL, 1, 0, "No such file" },
		{ "cd ..; pwd", "/tmp\n" },
		{ "mkdir d; cd d; mv ../d ../e; echo x >f; ls", "f\n" },
		{ "cd ../e; pwd", "/tmp/e\n" },
		{ "chmod 0 /tmp/e; ls", NULL, 2, 0, "Permission denied" },
		{ "cd; rm -rf workspace; ls -A; pwd", "/home/agent\n" },
		{ "exit", "", 0, R },
		{ "pwd", "/home/agent\n" }, /* the home: there is no workspace */
		{ "mkdir workspace; chmod 0 workspace; exit", "", 0, R },
		{ "pwd; chmod 755 workspace; exit", "/home/agent\n", 0, R },
		{ "pwd", "/home/agent/workspace\n" },
	};

	PLAY(turns);
}

/* The working directory is reported with its exact bytes. A too long path is cut. */
static void test_strange_folders(void **state)
{
	open_session(&(struct sandbox_options){ 0 });
	act("mkdir $'/tmp/a\\nb \\xff'; cd $'/tmp/a\\nb \\xff'");
	assert_string_equal(did->cwd, "/tmp/a\nb \xff");
	act("n=$(printf 'x%.0s' {1..200}); for i in {1..30}; do mkdir $n && cd $n; done");
	assert_int_equal(did->exit_code, 0);
	assert_int_equal(strlen(did->cwd), SHELL_CWD_MAX);
	assert_string_equal(buf_str(act("echo ${#PWD}")->output), "6040\n");
	act("exit");
	assert_string_equal(act("cd /tmp")->cwd, "/tmp");
	close_session();
}

static void test_limits_of_its_own(void **state)
{
	static const struct turn turns[] = {
		{ "ulimit -n 3", "" },
		{ "echo a", "a\n" },
		{ "ls", NULL, 127, 0, "Error 24" },
		{ "exit", NULL, 127, R },
		{ "ulimit -n; ulimit -u 1; bash -c true & sleep 30", NULL, 130, SESSION_TIMEOUT,
				"fork: retry", 500 },
		{ "echo a", "a\n" },
		{ "exit", NULL, 0, R, "" },
		{ "ulimit -v 20000; ls; echo a", NULL, 0, 0, "a\n" },
		{ "ulimit -f 1; head -c 100000 /dev/zero >/tmp/f", NULL, 153, 0, "exceeded" },
		{ "ulimit -t 1; while :; do :; done", NULL, 137, R },
		{ "ls /; ulimit -a | grep -c unlimited", NULL, 0, 0, "usr\n" },
	};

	PLAY(turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_much_output),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_long_commands),
		cmocka_unit_test(test_too_long_command),
		cmocka_unit_test(test_long_command_lost),
		cmocka_unit_test(test_later_output),
		cmocka_unit_test(test_many_jobs),
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_strange_folders),
		cmocka_unit_test(test_limits_of_its_own),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
