/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/child.h"
#include "base/scope.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts a child that waits for a byte on its standard input, then exits with `status`. */
static pid_t start(int *out_input, int status)
{
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		(void)!read(ends[0], &byte, 1);
		_exit(status);
	}
	assert_true(pid > 0);
	close(ends[0]);
	*out_input = ends[1];
	return pid;
}

static void check_end(int status, enum child_end end, bool kill_it)
{
	auto_close int input = -1, process = -1;
	pid_t pid = start(&input, status);
	int got = -1;

	process = child_open(pid);
	assert_true(process >= 0);
	assert_false(child_has_ended(process));
	assert_false(child_await(process, 1));
	assert_int_equal(child_reap(process, &got), CHILD_RUNS);
	if (kill_it)
		child_kill(process);
	else
		close_fd(&input);
	assert_true(child_await(process, -1));
	assert_true(child_has_ended(process));
	assert_int_equal(child_reap(process, &got), end);
	if (end == CHILD_FAILED && kill_it)
		assert_true(WIFSIGNALED(got) && WTERMSIG(got) == SIGKILL);
	else if (end == CHILD_FAILED)
		assert_true(WIFEXITED(got) && WEXITSTATUS(got) == status);
	assert_int_equal(child_reap(process, &got), CHILD_UNKNOWN);
}

static void test_ends(void **state)
{
	check_end(0, CHILD_DONE, false);
	check_end(200, CHILD_FAILED, false);
	check_end(0, CHILD_FAILED, true);
}

static void test_ends_unseen(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;

	sigaction(SIGCHLD, &ignore, &before);
	check_end(200, CHILD_UNKNOWN, false);
	sigaction(SIGCHLD, &before, NULL);
}

/* A pid of a reaped child may belong to such a process: it is not a child of this one. */
static void test_not_a_child(void **state)
{
	assert_int_equal(child_open(getpid()), -1);
	assert_int_equal(child_open(getppid()), -1);
	assert_true(child_has_ended(-1));
	assert_true(child_await(-1, -1));
	assert_int_equal(child_reap(-1, NULL), CHILD_UNKNOWN);
	child_kill(-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_ends_unseen),
		cmocka_unit_test(test_not_a_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
