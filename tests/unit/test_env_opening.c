/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"
#include "processes.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/file.h>
#include <unistd.h>

/* Openings that are left: while a baseline is played, while data is made, or while another process
 * holds a lock. */

static const char task_yaml[] = "name: Slow\n"
				"description: Write a word to out.txt.\n"
				"metric: {name: known, direction: maximize}\n"
				"dataset_configs: [words]\n"
				"baseline: cp data/word.txt out.txt\n"
				"training_timeout: 1000s\n"
				"grader: {kind: script, submission: out.txt, program: judge.py}\n"
				"limits: {memory: 256M, pids: 64, disk: 64M}\n"
				"variants:\n"
				"  waits: {baseline: sleep 1000}\n";

static const char dataset_yaml[] = "name: Words\n"
				   "description: A file.\n"
				   "make: {program: make.py, args: [], timeout: 900s}\n"
				   "files:\n"
				   "  - {path: word.txt}\n";

static const char judge_py[] = "import os\nos.write(3, b'{\"known\": 1}')\n";

static const char make_py[] = "open('word.txt', 'w').write('word')\n";
static const char waiting_py[] = "import subprocess\nsubprocess.run(['sleep', '1000'])\n";

static char tasks_dir[80];

static void put(const char *name, const char *text)
{
	auto_free char *path = path_join(tasks_dir, name);
	auto_free char *dir = path_dirname(path);

	assert_done(path_mkdirs(dir, 0755, &error));
	assert_done(fd_write_file(path, text, strlen(text), 0644, &error));
}

static int setup(void **state)
{
	assert_int_equal(folder_make(state_dir), 0);
	snprintf(tasks_dir, sizeof(tasks_dir), "%s/tasks", state_dir);
	put("slow/task.yaml", task_yaml);
	put("slow/datasets/words.yaml", dataset_yaml);
	put("slow/judge.py", judge_py);
	put("slow/make.py", make_py);
	assert_done(fh_gym_open(&FH_GYM_OPTIONS(.tasks_dir = tasks_dir, .state_dir = state_dir),
			&gym, &error));
	return 0;
}

static struct fh_env *start_opening(const char *task, bool polled)
{
	struct fh_env *env;

	assert_done(fh_env_open_start(
			gym, &FH_ENV_OPTIONS(.task = task, .polled = polled), &env, &error));
	return env;
}

static int finish(struct fh_env *env)
{
	assert_int_equal(fh_env_wait(env, -1, &error), 1);
	return fh_env_end(env, NULL, &error);
}

static void assert_cancelled(int r)
{
	assert_int_equal(r, -ECANCELED);
	assert_int_equal(error.kind, FH_ERROR_STATE);
	assert_has(error.message, "it was interrupted");
}

static void assert_plays(const char *task)
{
	struct fh_env *env = start_opening(task, false);

	assert_done(finish(env));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "cat data/word.txt");
	assert_string_equal(step.observation, "word");
	fh_env_close(env);
}

static size_t n_threads(void)
{
	size_t n = 0;
	DIR *dir = opendir("/proc/self/task");

	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* The thread of an opening that was left ends soon. The next opening or close frees it. */
static void await_threads(size_t n)
{
	int64_t end_ns = clock_now_ns() + PATIENCE_S * NS_PER_S;

	while (n_threads() > n && clock_now_ns() < end_ns)
		wait_a_little();
	assert_int_equal(n_threads(), n);
}

/* --- a baseline ------------------------------------------------------------------------------- */

static void test_interrupted_baseline(void **state)
{
	struct fh_env *env = start_opening("slow:waits", false);
	struct fh_env_info info;

	assert_true(process_await("sleep") > 0);
	assert_int_equal(fh_env_wait(env, 10, &error), 0);
	fh_env_info(env, &info);
	assert_null(info.task);
	assert_null(fh_env_warning(env));
	fh_env_interrupt(env);
	assert_cancelled(finish(env));
	assert_has(error.message, "the baseline of slow: ");
	assert_int_equal(fh_env_reset(env, NULL, &step, &error), -EPROTO);
	assert_has(error.message, "not open");
	fh_env_close(env);
	assert_plays("slow");
}

static void test_interrupted_while_polled(void **state)
{
	struct fh_env *env = start_opening("slow:waits", true), *other;

	assert_true(process_await("sleep") > 0);
	assert_false(is_over(env));
	fh_env_interrupt(env);
	while (!is_over(env))
		;
	assert_cancelled(fh_env_end(env, NULL, &error));
	fh_env_close(env);
	other = start_opening("slow", true);
	while (!is_over(other))
		;
	assert_done(fh_env_end(other, NULL, &error));
	fh_env_close(other);
}

/* Closing does not wait for the baseline, and a gym may be closed at once. */
static void test_left_baseline(void **state)
{
	size_t before = n_threads();
	struct fh_env *env;

	for (int i = 0; i < 4; i++) {
		env = start_opening("slow:waits", i % 2);
		if (i < 2)
			assert_true(process_await("sleep") > 0);
		fh_env_close(env);
		assert_int_equal(fh_gym_wait(gym, 0, &env, 1, &error), 0);
	}
	await_threads(before);
	assert_plays("slow");
	env = start_opening("slow:waits", false);
	assert_true(process_await("sleep") > 0);
	fh_env_close(env);
	fh_gym_close(gym);
	assert_int_equal(n_threads(), before);
	assert_done(fh_gym_open(&FH_GYM_OPTIONS(.tasks_dir = tasks_dir, .state_dir = state_dir),
			&gym, &error));
}

/* --- locks ------------------------------------------------------------------------------------ */

/* Takes the lock of the baselines that were played so far, as another process would. */
static int lock_baseline(void)
{
	char pattern[128];
	glob_t found;
	int fd;

	snprintf(pattern, sizeof(pattern), "%s/baselines/slow-*.json", state_dir);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(unlink(found.gl_pathv[0]), 0);
	globfree(&found);
	snprintf(pattern, sizeof(pattern), "%s/baselines/slow-*.lock", state_dir);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	fd = open(found.gl_pathv[0], O_RDWR | O_CLOEXEC);
	globfree(&found);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	return fd;
}

static void test_lock_of_another_process(void **state)
{
	size_t before = n_threads();
	struct fh_env *waits, *left, *cancelled;
	int lock;

	assert_plays("slow");
	lock = lock_baseline();
	waits = start_opening("slow", false);
	left = start_opening("slow", false);
	cancelled = start_opening("slow", false);
	assert_int_equal(fh_env_wait(waits, 50, &error), 0);
	fh_env_close(left);
	fh_env_interrupt(cancelled);
	assert_cancelled(finish(cancelled));
	fh_env_close(cancelled);
	assert_int_equal(fh_env_wait(waits, 10, &error), 0);
	close(lock);
	assert_done(finish(waits));
	fh_env_close(waits);
	await_threads(before);
}

/* --- data ------------------------------------------------------------------------------------- */

/* An opening makes the data, and others of the task wait for it. If it is left, another makes the
 * data, with the program as it is then. */
static void test_left_data(void **state)
{
	struct fh_env *makes, *waits, *cancelled;
	size_t before = n_threads();

	put("slow/make.py", waiting_py);
	makes = start_opening("slow", false);
	assert_true(process_await("sleep") > 0);
	waits = start_opening("slow", false);
	cancelled = start_opening("slow", true);
	assert_int_equal(fh_env_wait(waits, 50, &error), 0);
	fh_env_interrupt(cancelled);
	while (!is_over(cancelled))
		;
	assert_cancelled(fh_env_end(cancelled, NULL, &error));
	fh_env_close(cancelled);
	put("slow/make.py", make_py);
	fh_env_close(makes);
	assert_done(finish(waits));
	fh_env_close(waits);
	await_threads(before);
	assert_plays("slow");
}

static void test_interrupted_data(void **state)
{
	struct fh_env *env;

	put("slow/make.py", waiting_py);
	env = start_opening("slow", false);
	assert_true(process_await("sleep") > 0);
	fh_env_interrupt(env);
	assert_cancelled(finish(env));
	assert_has(error.message, "make data set 'words': ");
	fh_env_close(env);
}

/* --- failures --------------------------------------------------------------------------------- */

static void test_failures(void **state)
{
	struct fh_env *env = NULL;

	assert_int_equal(fh_env_open_start(gym, &FH_ENV_OPTIONS(), &env, &error), -EINVAL);
	assert_int_equal(fh_env_open_start(gym, NULL, &env, &error), -EINVAL);
	assert_null(env);
	env = start_opening("nonsense", false);
	assert_int_equal(finish(env), -ENOENT);
	assert_int_equal(error.kind, FH_ERROR_MISSING);
	assert_int_equal(fh_env_end(env, NULL, &error), -EPROTO);
	assert_int_equal(fh_env_validate_start(env, &error), -EPROTO);
	fh_env_close(env);
}

/* All that options point to may be gone once fh_env_open_start() has returned. */
static void test_options_need_not_stay(void **state)
{
	char task[] = "slow", source[] = "/etc/hostname", target[] = "/data/name", line[] = "N=7";
	struct fh_bind bind = { source, target };
	const char *variables[] = { line };
	struct fh_env *env;

	assert_done(fh_env_open_start(gym,
			&FH_ENV_OPTIONS(.task = task, .binds = &bind, .n_binds = 1,
					.variables = variables, .n_variables = 1),
			&env, &error));
	memset(task, 'x', strlen(task));
	memset(source, 'x', strlen(source));
	memset(target, 'x', strlen(target));
	memset(line, 'x', strlen(line));
	bind = (struct fh_bind){ NULL };
	variables[0] = NULL;
	assert_done(finish(env));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "ls /data; echo $N");
	assert_string_equal(step.observation, "name\n7\n");
	fh_env_close(env);
}

#define opening_test(f) cmocka_unit_test_setup_teardown(f, setup, gym_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		opening_test(test_interrupted_baseline),
		opening_test(test_interrupted_while_polled),
		opening_test(test_left_baseline),
		opening_test(test_lock_of_another_process),
		opening_test(test_left_data),
		opening_test(test_interrupted_data),
		opening_test(test_failures),
		opening_test(test_options_need_not_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
