/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox_fixture.h"

#include "native/native.h"

/* Limits of a sandbox, and the usage that it reports. No limit breaks the shell for the next
 * command. */

#define MIB (1 << 20)

static bool no_groups(void)
{
	const struct native_owner *o = native_owner_of(owner);

	if (!o->cgroups)
		print_message("skipped: %s\n", o->no_cgroups);
	return !o->cgroups;
}

static void open_limited(const struct sandbox_limits *limits)
{
	open_session(&(struct sandbox_options){ .limits = *limits });
}

static void test_memory(void **state)
{
	static const struct turn turns[] = {
		{ "echo fine", "fine\n" },
		{ "python3 -ISc 'x = bytearray(10 ** 9)'", NULL, 137, SESSION_MEMORY_LIMIT,
				"Killed" },
		{ "false", "", 1 },
		{ "python3 -ISc 'x = bytearray(10 ** 9)' | cat", NULL, 0, SESSION_MEMORY_LIMIT },
		{ "false", "", 1 },
		{ "python3 -ISc 'x = bytearray(10 ** 9)' & wait; true", NULL, 0,
				SESSION_MEMORY_LIMIT },
		{ "false", "", 1 },
		{ "true", "" },
		{ "A=7; python3 -ISc 'x = bytearray(30 * 2 ** 20); print(len(x))'", "31457280\n" },
		{ "echo $A; false", "7\n", 1 },
	};

	if (no_groups())
		skip();
	open_limited(&(struct sandbox_limits){ .memory_bytes = 100 * MIB });
	for (size_t i = 0; i < ARRAY_SIZE(turns); i++)
		play_turn(&turns[i]);
	/* The shell itself uses too much memory, not a child. */
	act("x=$(head -c 300000000 /dev/zero | tr '\\0' x)");
	assert_int_equal(did->outcome, SESSION_MEMORY_LIMIT);
	assert_true(did->restarted);
	assert_string_equal(buf_str(act("echo on")->output), "on\n");
	/* Files in memory count towards the limit. The agent has room left to remove them. */
	act("head -c 300000000 /dev/zero >/tmp/big");
	assert_has(buf_str(did->output), "No space left");
	act("rm /tmp/big && echo on");
	assert_string_equal(buf_str(did->output), "on\n");
	close_session();
}

/* A sandbox that reuses an earlier one's control group reports nothing of the earlier one. */
static void test_memory_of_a_used_group(void **state)
{
	if (no_groups())
		skip();
	for (int i = 0; i < 4; i++) {
		open_limited(&(struct sandbox_limits){ .memory_bytes = 64 * MIB });
		act("false");
		assert_int_equal(did->outcome, SESSION_OK);
		act("python3 -ISc 'x = bytearray(10 ** 9)'");
		assert_int_equal(did->outcome, SESSION_MEMORY_LIMIT);
		close_session();
	}
}

static const char fork_all[] = "python3 -ISc '\n"
			       "import os, time\n"
			       "n = 0\n"
			       "try:\n"
			       "    while n < 200:\n"
			       "        if os.fork() == 0: time.sleep(1000)\n"
			       "        n += 1\n"
			       "except OSError as e: print(e.errno)\n"
			       "print(n)'";

static void test_processes(void **state)
{
	long n = 0;

	open_limited(&(struct sandbox_limits){ .pids = 30 });
	act(fork_all);
	assert_int_equal(did->outcome, SESSION_OK);
	if (sscanf(buf_str(did->output), "11\n%ld", &n) != 1 || n < 20 || n > 30)
		fail_msg("it wrote '%s'", buf_str(did->output));
	/* At the limit of processes nothing can be forked. Commands that need no fork still work,
	 * and so does a kill. */
	act("echo on; kill -9 -1");
	assert_has(buf_str(did->output), "on\n");
	act("(echo forked)");
	assert_string_equal(buf_str(did->output), "forked\n");
	/* A fork bomb ends at its timeout. */
	act_within("f() { f | f & }; f; sleep 1000", 1000);
	assert_int_equal(did->outcome, SESSION_TIMEOUT);
	act("kill -9 -1; wait");
	act("ls /");
	assert_has(buf_str(did->output), "usr\n");
	close_session();
}

/* A sandbox at its limit of processes leaves other sandboxes theirs. */
static void test_processes_of_another(void **state)
{
	struct sandbox *other = start_sandbox(
			&(struct sandbox_options){ .layer = "empty", .limits = { .pids = 30 } });

	open_limited(&(struct sandbox_limits){ .pids = 30 });
	act(fork_all);
	assert_has(buf_str(did->output), "11\n");
	assert_string_equal(run_script(other, "(echo one); (echo two)")->output, "one\ntwo\n");
	sandbox_close(other);
	close_session();
}

static void test_disk(void **state)
{
	static const struct turn turns[] = {
		{ "head -c 2000000 /dev/zero >file", NULL, 1, 0, "No space left" },
		{ "test $(stat -c %s file) -le 1048576", "" },
		{ "echo x >/tmp/x", NULL, 1, 0, "No space left" },
		{ "echo x >/dev/shm/x", NULL, 1, 0, "No space left" },
		{ "rm file; echo x >/tmp/x; cat /tmp/x", "x\n" },
		{ "for i in {1..200}; do echo >$i || break; done", NULL, 0, 0, "No space left" },
		{ "ls | wc -l >/dev/null; rm *; echo x >y; cat y", "x\n" },
		{ "mkdir a; for i in {1..200}; do mkdir a/$i || break; done", NULL, 0, 0,
				"No space left" },
		{ "rm -r a; mkdir b", "" },
	};

	open_limited(&(struct sandbox_limits){ .disk_bytes = MIB, .disk_files = 100 });
	for (size_t i = 0; i < ARRAY_SIZE(turns); i++)
		play_turn(&turns[i]);
	close_session();
}

static void test_files_on_the_disk(void **state)
{
	struct usage usage;

	open_limited(&(struct sandbox_limits){ .disk_on = DISK_DISK });
	act("head -c 300000 /dev/zero >file; echo x >/tmp/x; echo x >/dev/shm/x; stat -c %s file");
	assert_string_equal(buf_str(did->output), "300000\n");
	usage = usage_of(shell_sandbox);
	assert_true(usage.written_bytes == -1 || usage.written_bytes >= 300000);
	close_session();
}

static void test_usage(void **state)
{
	struct usage before, after;
	struct sandbox_event event;
	int64_t peak;

	open_session(&(struct sandbox_options){ 0 });
	act("true");
	/* Wait until the sandbox is ready: only then it has a counter of written bytes. The shell
	 * may answer before. */
	before = usage_of(shell_sandbox);
	for (int i = 0; i < 100 && before.written_bytes < 0; i++) {
		sandbox_wait_event(shell_sandbox, 100, &event);
		before = usage_of(shell_sandbox);
	}
	if (before.written_bytes < 0 || before.written_bytes >= 100000)
		fail_msg("%lld bytes were written by `true`", (long long)before.written_bytes);
	act("head -c 5000000 /dev/zero >file; for ((i = 0; i < 100000; i++)); do :; done");
	after = usage_of(shell_sandbox);
	assert_true(after.written_bytes - before.written_bytes >= 5000000);
	assert_true(after.written_bytes - before.written_bytes < 6000000);
	if (no_groups()) {
		assert_int_equal(after.cpu_ns, -1);
		assert_int_equal(sandbox_count(shell_sandbox, SANDBOX_MEMORY_PEAK), -1);
		skip();
	}
	assert_true(after.cpu_ns > before.cpu_ns + 1000000);
	assert_true(after.cpu_ns - before.cpu_ns <= 20 * did->duration_ns);
	peak = sandbox_count(shell_sandbox, SANDBOX_MEMORY_PEAK);
	assert_true(peak >= 5000000);
	act("rm file");
	before = usage_of(shell_sandbox);
	assert_true(before.written_bytes < 100000);
	assert_true(sandbox_count(shell_sandbox, SANDBOX_MEMORY_PEAK) >= peak);
	assert_true(before.cpu_ns >= after.cpu_ns);
	assert_int_equal(sandbox_count(shell_sandbox, SANDBOX_OOM_KILLS), 0);
	close_session();
}

/* A new sandbox that reuses a control group starts with zero usage. */
static void test_usage_begins_anew(void **state)
{
	struct usage usage;

	if (no_groups())
		skip();
	for (int i = 0; i < 3; i++) {
		open_session(&(struct sandbox_options){ 0 });
		act("true");
		usage = usage_of(shell_sandbox);
		assert_true(usage.cpu_ns >= 0 && usage.cpu_ns < 200000000);
		assert_true(sandbox_count(shell_sandbox, SANDBOX_MEMORY_PEAK) < 40 * MIB);
		act("python3 -ISc 'x = bytearray(60 * 2 ** 20)\nfor i in range(5000000): pass'");
		(void)usage_of(shell_sandbox);
		assert_true(sandbox_count(shell_sandbox, SANDBOX_MEMORY_PEAK) >= 60 * MIB);
		close_session();
	}
}

static void test_cpus(void **state)
{
	struct usage before, after;
	static const char burn[] =
			"for i in 1 2; do while :; do :; done & done; sleep 1; kill $(jobs -p)";

	if (no_groups())
		skip();
	open_limited(&(struct sandbox_limits){ .cpus = 0.2 });
	act("true");
	before = usage_of(shell_sandbox);
	act(burn);
	after = usage_of(shell_sandbox);
	/* Expect 0.2 CPUs at most. Allow 0.5, because the kernel rounds up each period. */
	assert_true(after.cpu_ns - before.cpu_ns < did->duration_ns / 2);
	close_session();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_memory_of_a_used_group),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_processes_of_another),
		cmocka_unit_test(test_disk),
		cmocka_unit_test(test_files_on_the_disk),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_usage_begins_anew),
		cmocka_unit_test(test_cpus),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
