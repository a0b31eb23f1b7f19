/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/process.h"
#include "base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child_that_waits(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_fields_come_after_the_name(void **state)
{
	static const char stat[] = "12 (a ) (b) R 34 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 "
				   "2222 23 -24";

	(void)state;
	assert_int_equal(process_field(stat, PROCESS_PARENT), 34);
	assert_int_equal(process_field(stat, PROCESS_START), 2222);
	assert_int_equal(process_field(stat, PROCESS_RESIDENT_PAGES), -24);
	assert_int_equal(process_field(stat, PROCESS_ARGUMENTS_END), -1);
	assert_int_equal(process_field("", PROCESS_PARENT), -1);
	assert_int_equal(process_field("1 (x) R ", PROCESS_PARENT), -1);
}

static void test_own_fields(void **state)
{
	char stat[PROCESS_STAT_MAX], name[16];

	(void)state;
	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, ") 1 (2 3");
	assert_true(process_read_stat(getpid(), stat));
	prctl(PR_SET_NAME, name);
	process_name(stat, name, sizeof(name));
	assert_string_equal(name, ") 1 (2 3");
	process_name(stat, name, 3);
	assert_string_equal(name, ") ");
	process_name("", name, sizeof(name));
	assert_string_equal(name, "");
	assert_int_equal(process_field(stat, PROCESS_PARENT), getppid());
	assert_true(process_field(stat, PROCESS_RESIDENT_PAGES) > 0);
	assert_true(process_field(stat, PROCESS_ARGUMENTS_END) >
			process_field(stat, PROCESS_ARGUMENTS_BEGIN));
	assert_true(process_start_time(getpid()) >= process_start_time(1));
}

static void test_next_finds_each_once(void **state)
{
	DIR *proc = opendir("/proc");
	pid_t child = child_that_waits(), pid;
	int selves = 0, children = 0;

	(void)state;
	assert_non_null(proc);
	while ((pid = process_next(proc))) {
		selves += pid == getpid();
		children += pid == child;
	}
	closedir(proc);
	end_child(child);
	assert_int_equal(selves, 1);
	assert_int_equal(children, 1);
}

static void test_what_has_ended_has_no_start(void **state)
{
	pid_t child = child_that_waits();
	char stat[PROCESS_STAT_MAX];

	(void)state;
	assert_true(process_start_time(child) >= process_start_time(getpid()));
	end_child(child);
	assert_int_equal(process_start_time(child), -1);
	assert_false(process_read_stat(child, stat));
}

/* Makes a folder with this name, claimed by a living process or not. Returns whether
 * process_folder_is_stale() reports its owner as gone. */
static bool is_stale(const char *name, bool claimed)
{
	char dir[] = "/tmp/process-XXXXXX";
	auto_free char *folder = NULL;
	auto_close int claim = -1;
	bool stale;

	assert_non_null(mkdtemp(dir));
	folder = xasprintf("%s/%s", dir, name);
	assert_true(mkdir(folder, 0700) == 0 || !*name);
	if (claimed) {
		claim = process_claim(folder);
		assert_true(claim >= 0);
	}
	stale = process_folder_is_stale(folder);
	rmdir(folder);
	rmdir(dir);
	return stale;
}

static void test_names_go_stale(void **state)
{
	auto_free char *own = process_own_name("a-b");
	auto_free char *other = process_own_name("a-b");
	char name[64];
	pid_t child = child_that_waits();

	(void)state;
	assert_string_not_equal(own, other);
	assert_false(is_stale(own, false));
	snprintf(name, sizeof(name), "x-%d-%lld", child, (long long)process_start_time(child));
	assert_false(is_stale(name, false));
	end_child(child);
	assert_true(is_stale(name, false));
	/* another start time: the pid belongs to another process by now */
	snprintf(name, sizeof(name), "x-%d-%lld", getpid(),
			(long long)process_start_time(getpid()) + 1);
	assert_true(is_stale(name, false));
	/* a claimed folder is in use, even if its name has a pid of another namespace */
	assert_false(is_stale(name, true));
}

static void test_other_names_are_not_stale(void **state)
{
	static const char *const names[] = { "", "-", "--", "x", "x-1", "1-1", "x-y-1", "x-1-y",
		"x-1-", "x--1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_false(is_stale(names[i], false));
}

/* Two processes may claim a folder. It is claimed until both have given it up. */
static void test_claims(void **state)
{
	char dir[] = "/tmp/process-XXXXXX";
	int one, two;

	(void)state;
	assert_non_null(mkdtemp(dir));
	one = process_claim(dir);
	two = process_claim(dir);
	assert_true(one >= 0 && two >= 0);
	close(one);
	assert_false(process_folder_is_stale(dir));
	close(two);
	rmdir(dir);
	assert_int_equal(process_claim(dir), -ENOENT);
	assert_false(process_folder_is_stale(dir));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_come_after_the_name),
		cmocka_unit_test(test_own_fields),
		cmocka_unit_test(test_next_finds_each_once),
		cmocka_unit_test(test_what_has_ended_has_no_start),
		cmocka_unit_test(test_names_go_stale),
		cmocka_unit_test(test_other_names_are_not_stale),
		cmocka_unit_test(test_claims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
