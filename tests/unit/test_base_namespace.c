/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/namespace.h"
#include "base/process.h"
#include "base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_MS 10000

static void pause_a_moment(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NS_PER_MS }, NULL);
}

static char state_of(pid_t pid)
{
	char stat[PROCESS_STAT_MAX];

	return process_read_stat(pid, stat) ? strrchr(stat, ')')[2] : '-';
}

/* Runs in the namespace: holds the kernel's lock of a pipe for ever, by a splice() from an idle
 * socket. */
_Noreturn static void hold(int pipe_end)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
		splice(pair[0], NULL, pipe_end, NULL, 4096, 0);
	_exit(1);
}

/* Runs as PID 1 of the namespace and holds the pipe's other end. When told to, it closes that end,
 * which waits for the kernel's lock of the pipe. */
_Noreturn static void be_init(int told)
{
	int ends[2];
	char byte;
	pid_t pid;

	prctl(PR_SET_DUMPABLE, 1);
	if (pipe(ends) < 0)
		_exit(1);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		hold(ends[1]);
	}
	close(ends[1]);
	if (read(told, &byte, 1) == 1)
		close(ends[0]);
	_exit(0);
}

static pid_t start_init(int *out_tell)
{
	struct clone_args args = { .flags = CLONE_NEWUSER | CLONE_NEWPID, .exit_signal = SIGCHLD };
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		close(ends[1]);
		be_init(ends[0]);
	}
	close(ends[0]);
	*out_tell = ends[1];
	return pid;
}

static bool await_state(pid_t pid, char state)
{
	int64_t end = clock_now_ns() + LIMIT_MS * NS_PER_MS;

	while (clock_now_ns() < end) {
		if (state_of(pid) == state)
			return true;
		pause_a_moment();
	}
	return false;
}

static int open_process(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void test_ends_an_init_that_sleeps_in_the_kernel(void **state)
{
	auto_close int tell = -1;
	auto_close int proc = -1;
	pid_t pid = start_init(&tell);

	(void)state;
	if (pid < 0) {
		print_message("skip: namespaces can't be made: %s\n", strerror(errno));
		skip();
	}
	proc = open_process(pid);
	assert_true(proc >= 0);
	/* Wait until hold() has the kernel's lock of the pipe. */
	nanosleep(&(struct timespec){ .tv_nsec = 200 * NS_PER_MS }, NULL);
	assert_int_equal(write(tell, "", 1), 1);
	assert_true(await_state(pid, 'D'));
	kill(pid, SIGKILL);
	nanosleep(&(struct timespec){ .tv_nsec = 100 * NS_PER_MS }, NULL);
	assert_int_equal(state_of(pid), 'D'); /* a kill alone does not end it */

	assert_int_equal(namespace_end(proc), 0);
	assert_true(await_state(pid, 'Z'));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(namespace_end(proc), -ESRCH);
}

static void test_ends_an_init_that_does_nothing(void **state)
{
	auto_close int tell = -1;
	auto_close int proc = -1;
	pid_t pid = start_init(&tell);

	(void)state;
	if (pid < 0) {
		print_message("skip: namespaces can't be made: %s\n", strerror(errno));
		skip();
	}
	proc = open_process(pid);
	assert_int_equal(namespace_end(proc), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_an_init_that_sleeps_in_the_kernel),
		cmocka_unit_test(test_ends_an_init_that_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
