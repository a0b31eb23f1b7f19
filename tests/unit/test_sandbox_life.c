/* SPDX-License-Identifier: Apache-2.0 */
#include "processes.h"
#include "sandbox_fixture.h"

#include "base/clock.h"
#include "native/mail.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* All sandboxes end when their owner ends in any way, and leave nothing. If only their nursery
 * ends, they live on. */

static bool is_alive(pid_t pid)
{
	return process_parent(pid, NULL, 0) >= 0;
}

/* Waits until none of the listed processes is left, however long that takes. */
static void await_end(const struct processes *p)
{
	int64_t deadline = clock_now_ns() + PATIENCE_S * NS_PER_S;

	for (size_t i = 0; i < p->n; i++) {
		while (is_alive(p->list[i])) {
			if (clock_now_ns() > deadline)
				fail_msg("process %d is still there", p->list[i]);
			wait_a_little();
		}
	}
}

/* Waits until this process has no descendants but the listed ones. */
static void await_all_but(const struct processes *kept)
{
	int64_t deadline = clock_now_ns() + PATIENCE_S * NS_PER_S;
	static struct processes all;

	for (;; wait_a_little()) {
		size_t i = 0;

		process_descendants(getpid(), &all);
		while (i < all.n && process_has(kept, all.list[i]))
			i++;
		if (i == all.n)
			return;
		if (clock_now_ns() > deadline)
			fail_msg("process %d is still there", all.list[i]);
	}
}

static size_t count_named(const struct processes *p, const char *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		char name[64] = "";

		process_parent(p->list[i], name, sizeof(name));
		n += strcmp(name, wanted) == 0;
	}
	return n;
}

/* --- owners that are killed, and forks of owners ---------------------------------------------- */

/* Forks a process that opens an owner and starts busy sandboxes. It can wait until the sandboxes
 * are ready. */
static pid_t fork_owner(int n_sandboxes, bool wait_until_ready, void (*then)(void))
{
	int pair[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid > 0) {
		close(pair[1]);
		assert_int_equal(read(pair[0], &byte, 1), 1);
		close(pair[0]);
		return pid;
	}
	if (owner_open(NULL, &owner, &error) < 0)
		_exit(1);
	for (int i = 0; i < n_sandboxes; i++) {
		struct sandbox *sb = NULL;
		struct sandbox_options options = { .shell = true };

		if (sandbox_start(owner, &options, &sb, &error) < 0)
			_exit(1);
		if (!wait_until_ready)
			continue;
		session = session_new(sb, 4096);
		session_command(session,
				"sleep 1000 & (trap '' HUP TERM; setsid sleep 1000) & nohup sleep 1000 &\n"
				"until (($(pgrep -c sleep) == 3)); do :; done",
				0, false, &error);
		if (session_result(session)->outcome != SESSION_OK) {
			print_message("%s\n", buf_str(session_result(session)->output));
			_exit(1);
		}
	}
	if (then)
		then();
	if (write(pair[1], "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void kill_and_reap(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_killed_owner(void **state)
{
	static struct processes all;
	pid_t pid = fork_owner(3, true, NULL);

	process_descendants(pid, &all);
	assert_int_equal(count_named(&all, "init"), 3);
	assert_int_equal(count_named(&all, "sleep"), 9);
	kill_and_reap(pid);
	await_end(&all);
}

/* Kills owners at different moments of their sandboxes' start. This process adopts orphans as
 * subreaper, so that it can wait for them. */
static void test_killed_while_starting(void **state)
{
	static struct processes before;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	process_descendants(getpid(), &before);
	for (int i = 0; i < 40; i++) {
		pid_t pid = fork_owner(1 + i % 4, false, NULL);

		nanosleep(&(struct timespec){ .tv_nsec = i * 100000 }, NULL);
		kill_and_reap(pid);
		await_all_but(&before);
	}
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

static pid_t *worker;

static void fork_worker(void)
{
	pid_t pid = fork();

	if (pid > 0)
		*worker = pid;
	if (pid)
		return;
	for (;;)
		pause();
}

/* A worker that was forked from the owner and lives on keeps no sandbox of the owner alive. */
static void test_forked_worker(void **state)
{
	static struct processes all, without;
	pid_t pid;

	worker = mmap(NULL, sizeof(*worker), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);
	pid = fork_owner(2, true, fork_worker);
	process_descendants(pid, &all);
	assert_true(process_has(&all, *worker));
	for (size_t i = 0; i < all.n; i++)
		if (all.list[i] != *worker)
			without.list[without.n++] = all.list[i];
	kill_and_reap(pid);
	await_end(&without);
	assert_true(is_alive(*worker));
	kill(*worker, SIGKILL);
	munmap(worker, sizeof(*worker));
}

/* In a forked worker, the parent's sandboxes count as gone. The worker may open an owner of its
 * own. */
static void test_owner_in_a_worker(void **state)
{
	struct sandbox *sb = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct sandbox_event event;
		int fds[SANDBOX_FDS];

		sandbox_next_event(sb, &event);
		sandbox_fds(sb, fds);
		if (event.kind != SANDBOX_GONE || fds[0] != -1 || fds[1] != -1)
			_exit(1);
		sandbox_close(sb);
		if (owner_open(NULL, &owner, &error) < 0)
			_exit(2);
		sb = start_sandbox(&(struct sandbox_options){ 0 });
		_exit(strcmp(run_script(sb, "echo in worker")->output, "in worker\n") ? 3 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_string_equal(run_script(sb, "echo on")->output, "on\n");
	sandbox_close(sb);
}

/* A forked worker can't start a sandbox. The parent's next sandbox still works, and outlives the
 * cleanup of the closed one. */
static void test_refused_in_a_worker(void **state)
{
	const struct sandbox_options options = { .layer = "empty" };
	struct sandbox *sb = start_sandbox(&options);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct sandbox *refused = NULL;

		_exit(sandbox_start(owner, &options, &refused, &error) == -EPERM ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	sandbox_close(sb);
	sb = start_sandbox(&options);
	assert_string_equal(run_script(sb, "sleep 1.5; echo on")->output, "on\n");
	sandbox_close(sb);
}

/* --- the nursery ------------------------------------------------------------------------------ */

static void test_killed_nursery(void **state)
{
	static struct processes all;
	struct sandbox *first = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	struct sandbox *second;
	const char *file = scratch_file("file", "of the layer\n");

	assert_done(owner_add_layer(owner, "made-before",
			&(struct layer_item){ file, "workspace/file", false }, 1, &error));
	for (int i = 0; i < 5; i++) {
		pid_t nursery;

		process_descendants(getpid(), &all);
		nursery = process_named(&all, "fh-nursery");
		assert_true(nursery > 0);
		assert_int_equal(kill(nursery, SIGKILL), 0);
		while (is_alive(nursery)) /* wait: a dying nursery would lose the next request */
			;
		second = start_sandbox(&(struct sandbox_options){ .layer = "made-before" });
		assert_string_equal(run_script(second, "cat file")->output, "of the layer\n");
		assert_string_equal(run_script(first, "echo on")->output, "on\n");
		sandbox_close(second);
	}
	sandbox_close(first);
}

/* Kills a nursery while it makes sandboxes. Processes that it had cloned must end by themselves. */
static void test_nursery_killed_at_birth(void **state)
{
	static struct processes all, none;
	struct owner *kept = owner;

	assert_done(owner_open(NULL, &owner, &error));
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	process_descendants(getpid(), &none);
	for (int i = 0; i < 100; i++) {
		struct sandbox *sb[4] = { begin_sandbox(&(struct sandbox_options){ 0 }) };
		pid_t nursery = 0;

		process_descendants(getpid(), &all);
		for (size_t j = 0; j < all.n && !nursery; j++)
			if (!process_has(&none, all.list[j]))
				nursery = all.list[j];
		for (size_t j = 1; j < ARRAY_SIZE(sb); j++)
			sb[j] = begin_sandbox(&(struct sandbox_options){ 0 });
		nanosleep(&(struct timespec){ .tv_nsec = i * 10000 }, NULL);
		if (nursery) /* 0: the last nursery was still ending */
			kill(nursery, SIGKILL);
		for (size_t j = 0; j < ARRAY_SIZE(sb); j++)
			sandbox_close(sb[j]);
	}
	owner_close(owner);
	owner = kept;
	await_all_but(&none);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

/* Processes of a killed nursery are adopted by this process or by init. They end with their sandbox
 * all the same. */
static void test_closed_after_killed_nursery(void **state)
{
	static struct processes all;
	struct sandbox *sb = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	pid_t nursery;

	process_descendants(getpid(), &all);
	nursery = process_named(&all, "fh-nursery");
	process_descendants(nursery, &all);
	assert_true(process_named(&all, "init") > 0);
	assert_int_equal(kill(nursery, SIGKILL), 0);
	sandbox_close(sb);
	await_end(&all);
	while (is_alive(nursery)) /* wait: a dying nursery would lose the next request */
		;
}

/* --- one sandbox ------------------------------------------------------------------------------ */

static void test_close_ends_all(void **state)
{
	static struct processes before, all, own;

	sandbox_close(start_sandbox(&(struct sandbox_options){ .layer = "empty" }));
	process_descendants(getpid(), &before);
	open_session(&(struct sandbox_options){ 0 });
	act("for i in 1 2 3 4 5; do (trap '' HUP TERM INT; sleep 1000) & setsid sleep 1000 & done\n"
	    "until (($(pgrep -c sleep) == 10)); do :; done");
	process_descendants(getpid(), &all);
	for (size_t i = 0; i < all.n; i++)
		if (!process_has(&before, all.list[i]))
			own.list[own.n++] = all.list[i];
	assert_int_equal(count_named(&own, "sleep"), 10);
	close_session();
	/* Don't count a process that the nursery keeps ready for the next sandbox. */
	for (size_t i = 0; i < own.n; i++) {
		char name[64] = "";

		process_parent(own.list[i], name, sizeof(name));
		if (strcmp(name, "fh-nursery") == 0)
			own.list[i--] = own.list[--own.n];
	}
	await_end(&own);
}

static void test_killed_init(void **state)
{
	static struct processes all;
	pid_t init;

	if (getuid() != 0) {
		print_message("skipped: only root may kill a sandbox' PID 1\n");
		skip();
	}
	open_session(&(struct sandbox_options){ 0 });
	act("sleep 1000 & until pgrep sleep; do :; done");
	process_descendants(getpid(), &all);
	init = process_named(&all, "init");
	assert_true(init > 0);
	assert_int_equal(kill(init, SIGKILL), 0);
	do { /* the kernel ends the shell soon after PID 1 */
		act("true");
	} while (did->outcome == SESSION_OK);
	assert_int_equal(did->outcome, SESSION_GONE);
	assert_int_equal(did->exit_code, -1);
	act("echo never");
	assert_int_equal(did->outcome, SESSION_GONE);
	close_session();
}

/* If the porter is killed, the command's result says that the sandbox is gone: output may be lost.
 * The result waits for PID 1's end. */
static void test_killed_porter(void **state)
{
	pid_t porter, init;

	if (getuid() != 0) {
		print_message("skipped: only root may kill a sandbox' porter\n");
		skip();
	}
	process_await_none("porter");
	open_session(&(struct sandbox_options){ 0 });
	porter = process_await("porter");
	init = process_await("init");
	assert_true(porter > 0 && init > 0);
	assert_int_equal(kill(init, SIGSTOP), 0);
	assert_int_equal(kill(porter, SIGKILL), 0);
	await_end(&(struct processes){ .list = { porter }, .n = 1 });
	assert_done(session_begin(session, "echo here", PATIENCE_MS, false, &error));
	while (!mail_answered(native_of(shell_sandbox)))
		wait_a_little();
	assert_false(session_advance(session));
	assert_int_equal(kill(init, SIGCONT), 0);
	while (!session_advance(session))
		wait_a_little();
	assert_int_equal(session_result(session)->outcome, SESSION_GONE);
	close_session();
}

static void test_closed_at_any_time(void **state)
{
	for (int i = 0; i < 50; i++) {
		struct sandbox *sb = begin_sandbox(
				&(struct sandbox_options){ .layer = "empty", .shell = i % 2 });

		nanosleep(&(struct timespec){ .tv_nsec = i * 50000 }, NULL);
		sandbox_close(sb);
	}
	sandbox_close(NULL);
	owner_close(NULL);
}

static void test_owner_closed_first(void **state)
{
	static struct processes all;
	struct owner *kept = owner, *other;
	struct sandbox *sb;

	assert_done(owner_open(NULL, &other, &error));
	owner = other;
	sb = start_sandbox(&(struct sandbox_options){ .shell = true });
	sandbox_close(sb);
	process_descendants(getpid(), &all);
	owner_close(other);
	owner = kept;
	/* Closing one owner ends no sandbox or nursery of another owner. */
	process_descendants(getpid(), &all);
	assert_true(process_named(&all, "fh-nursery") > 0);
	sandbox_close(start_sandbox(&(struct sandbox_options){ .layer = "empty" }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_owner),
		cmocka_unit_test(test_killed_while_starting),
		cmocka_unit_test(test_forked_worker),
		cmocka_unit_test(test_owner_in_a_worker),
		cmocka_unit_test(test_refused_in_a_worker),
		cmocka_unit_test(test_killed_nursery),
		cmocka_unit_test(test_nursery_killed_at_birth),
		cmocka_unit_test(test_closed_after_killed_nursery),
		cmocka_unit_test(test_close_ends_all),
		cmocka_unit_test(test_killed_init),
		cmocka_unit_test(test_killed_porter),
		cmocka_unit_test(test_closed_at_any_time),
		cmocka_unit_test(test_owner_closed_first),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
