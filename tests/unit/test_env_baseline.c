/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include "base/fd.h"
#include "task/dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* A task's baseline is played once and kept. All environments read its score. Also tests options of
 * an environment. */

static double baseline_of(const char *task)
{
	struct fh_env *env = open_env(task);
	struct fh_env_info info;
	double value;

	fh_env_info(env, &info);
	assert_true(info.n_baseline > 0);
	value = info.baseline[0].value;
	fh_env_close(env);
	return value;
}

/* Finds the only file in the folder of baselines with this ending. */
static void kept_file(const char *ending, char out[256])
{
	char pattern[128];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/baselines/*%s", state_dir, ending);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	snprintf(out, 256, "%s", found.gl_pathv[0]);
	globfree(&found);
}

static void write_kept(const char *path, const char *text)
{
	assert_done(fd_write_file(path, text, strlen(text), 0644, &error));
}

static void test_kept(void **state)
{
	auto_buf struct buf text = BUF_INIT(1000);
	char path[256];

	assert_true(baseline_of("rows") == 0.5);
	kept_file(".json", path);
	assert_done(fd_read_file(path, &text, &error));
	assert_string_equal(buf_str(&text), "{\"accuracy\":0.5}\n");

	/* Write another score into the file. It must be returned, which shows that the baseline was
	 * not played again. */
	write_kept(path, "{\"accuracy\": 0.25}");
	assert_true(baseline_of("rows") == 0.25);
	fh_gym_close(gym);
	open_gym();
	assert_true(baseline_of("rows") == 0.25);
}

static void test_spoilt(void **state)
{
	static const char *const spoilt[] = { "", "{", "[]", "{\"accuracy\": \"x\"}",
		"{\"other\": 1}", "{\"error\": \"x\"}" };
	char path[256];

	kept_file(".json", path);
	for (size_t i = 0; i < ARRAY_SIZE(spoilt); i++) {
		write_kept(path, spoilt[i]);
		assert_true(baseline_of("rows") == 0.5);
	}
}

static void *open_later(void *value)
{
	*(double *)value = baseline_of("rows");
	return NULL;
}

/* While another process plays the baseline, a gym waits and takes that process's score. */
static void test_lock(void **state)
{
	char path[256], lock_path[256];
	double value = 0;
	pthread_t thread;
	int lock;

	kept_file(".json", path);
	kept_file(".lock", lock_path);
	lock = open(lock_path, O_RDWR | O_CLOEXEC);
	assert_true(lock >= 0);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(unlink(path), 0);
	pthread_create(&thread, NULL, open_later, &value);
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	write_kept(path, "{\"accuracy\": 0.75}");
	close(lock);
	pthread_join(thread, NULL);
	assert_true(value == 0.75);
}

static void test_failures(void **state)
{
	struct fh_env_options options = FH_ENV_OPTIONS(.task = "rows:worse");
	struct fh_env *env = NULL;

	assert_true(fh_env_open(gym, &options, &env, &error) < 0);
	assert_has(error.message, "the baseline of rows: ");
	assert_has(error.message, "`cp nothing.csv submission.csv` ended with status 1");
	assert_null(strchr(error.message, '\n'));
	assert_has(error.message, "cannot stat 'nothing.csv'");
	/* An option that can never work is refused before the baseline is played. */
	options.memory = true;
	assert_int_equal(fh_env_open(gym, &options, &env, &error), -EINVAL);
	assert_has(error.message, "the task rows has no memory_path");
	options.memory = false;
	options.task = "rows:unscored";
	assert_true(fh_env_open(gym, &options, &env, &error) < 0);
	assert_has(error.message, "can't be scored: There is no file");
	options.task = "rows:nonsense";
	assert_true(fh_env_open(gym, &options, &env, &error) < 0);
	options.task = "nonsense";
	assert_int_equal(fh_env_open(gym, &options, &env, &error), -ENOENT);
	options.task = NULL;
	assert_int_equal(fh_env_open(gym, &options, &env, &error), -EINVAL);
	options = FH_ENV_OPTIONS(.task = "rows", .max_steps = -1);
	assert_int_equal(fh_env_open(gym, &options, &env, &error), -EINVAL);
	assert_null(env);
}

/* A task without a baseline command has published scores. The spelling of the metric's name differs
 * in case. */
static void test_published(void **state)
{
	struct fh_env *env;

	assert_done(fh_env_open(gym, &FH_ENV_OPTIONS(.task = "rows:published"), &env, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	assert_has(step.observation, "Baseline Score: {'Accuracy': 0.25}");
	act(env, "cp zeros.csv submission.csv; validate");
	assert_true(step.reward == 0.25);
	fh_env_close(env);
}

static void test_large_data(void **state)
{
	struct fh_env_options options = FH_ENV_OPTIONS(.task = "large");
	auto_free char *tasks = path_join(places_get()->share_dir, "tests/tasks");
	auto_free char *store = dataset_store("large", tasks);
	char path[160];
	struct fh_env *env;
	int fd;

	assert_int_equal(fh_env_open(gym, &options, &env, &error), -ENODATA);
	assert_has(error.message, "The test that uses it makes large.bin");

	snprintf(path, sizeof(path), "%s/data/%s", state_dir, store);
	assert_done(path_mkdirs(path, 0755, &error));
	snprintf(path, sizeof(path), "%s/data/%s/small.txt", state_dir, store);
	write_kept(path, "a b c\n");
	snprintf(path, sizeof(path), "%s/data/%s/large.bin", state_dir, store);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(ftruncate(fd, 70 << 20), 0);
	close(fd);

	env = open_episode("large");
	act(env, "cd data; stat -c %s large.bin; cat small.txt; echo x 2>/dev/null >small.txt");
	assert_string_equal(step.observation, "73400320\na b c\n");
	assert_int_equal(step.exit_code, 1);
	act(env, "cd ..; touch mine data/mine 2>/dev/null; ls . data");
	assert_has(step.observation, "mine");
	act(env, "echo a >words.txt; validate");
	assert_true(step.score && step.score[0].value == 1 && step.score[1].value == 73400320);
	fh_env_close(env);
}

static void test_binds(void **state)
{
	struct fh_bind binds[] = { { NULL, "/home/agent/workspace/bound" },
		{ "/etc/hostname", NULL } };
	struct fh_env_options options =
			FH_ENV_OPTIONS(.task = "rows", .binds = binds, .n_binds = 1);
	static const struct fh_bind wrong[] = { { "relative", "/x" }, { "/etc/hostname", "x" },
		{ "/nothing/there", NULL }, { NULL, NULL } };
	char folder[FOLDER_MAX], path[128];
	struct fh_env *env;

	assert_int_equal(folder_make(folder), 0);
	snprintf(path, sizeof(path), "%s/bound.txt", folder);
	write_kept(path, "from outside\n");
	binds[0].source = path;
	assert_done(fh_env_open(gym, &options, &env, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "cat bound; echo x 2>/dev/null >bound");
	assert_string_equal(step.observation, "from outside\n");
	assert_int_equal(step.exit_code, 1);

	/* A failed reset tells the reason, and the next reset may succeed. */
	assert_int_equal(unlink(path), 0);
	assert_true(fh_env_reset(env, NULL, &step, &error) < 0);
	assert_has(error.message, "bound.txt");
	assert_int_equal(fh_env_step(env, &FH_ACTION(.text = "ls"), &step, &error), -EPROTO);
	write_kept(path, "from outside\n");
	assert_done(fh_env_reset(env, NULL, &step, &error));
	fh_env_close(env);

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		options.binds = &wrong[i];
		assert_true(fh_env_open(gym, &options, &env, &error) < 0);
		assert_has(error.message, "bind '");
	}
	assert_int_equal(folder_remove(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_large_data),
		cmocka_unit_test(test_binds),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
