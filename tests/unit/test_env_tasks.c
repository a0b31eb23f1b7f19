/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include "base/fd.h"
#include "base/str.h"

#include <fumehood/task.h>

#include <errno.h>
#include <unistd.h>

/* Tasks as fumehood/task.h lists and describes them, beside the gym that opens them. */

static struct fh_tasks *tasks;

static struct fh_gym_options gym_options(void)
{
	static char dir[256];

	snprintf(dir, sizeof(dir), "%s/tests/tasks", places_get()->share_dir);
	return FH_GYM_OPTIONS(.tasks_dir = dir, .state_dir = state_dir);
}

static const struct fh_task_info *find(const char *id)
{
	const struct fh_task_info *task;

	for (size_t i = 0; (task = fh_tasks_at(tasks, i)); i++)
		if (str_eq(task->id, id))
			return task;
	return NULL;
}

static const struct fh_task_info *describe(const struct fh_env_options *env)
{
	struct fh_gym_options options = gym_options();

	fh_tasks_free(tasks);
	tasks = NULL;
	assert_done(fh_tasks_describe(&options, env, &tasks, &error));
	assert_null(fh_tasks_at(tasks, 1));
	return fh_tasks_at(tasks, 0);
}

static int free_tasks(void **state)
{
	fh_tasks_free(tasks);
	tasks = NULL;
	return 0;
}

static void test_list(void **state)
{
	struct fh_gym_options options = gym_options();
	const struct fh_task_info *task;

	assert_done(fh_tasks_list(&options, &tasks, &error));
	task = find("rows");
	assert_non_null(task);
	assert_string_equal(task->name, "Rows");
	assert_string_equal(task->metric, "accuracy");
	assert_true(task->maximize && task->max_steps == 6 && task->short_timeout_s == 10);
	assert_null(task->problem);
	assert_string_equal(task->variants[0].name, "full");
	assert_string_equal(task->variants[1].name, "quick");
	assert_int_equal(task->n_variants, 9);
	assert_null(task->baseline);
	assert_string_equal(find("titanicSurvival")->variant, "micro");
	assert_string_equal(find("titanicSurvival")->variants[0].name, "micro");
}

static void test_missing_data(void **state)
{
	struct fh_gym_options options = gym_options();
	const struct fh_task_info *task;

	assert_done(fh_tasks_list(&options, &tasks, &error));
	task = find("large");
	assert_has(task->problem, "lacks large.bin");
	assert_has(task->variants[0].problem, "lacks large.bin");
	assert_non_null(task->metric);
	assert_string_equal(task->grader, "script");
	assert_int_equal(task->n_missing, 1);
	assert_string_equal(task->missing[0], task->problem);
	task = find("titanicSurvival");
	assert_null(task->variants[0].problem);
	assert_string_equal(task->variants[1].name, "full");
	assert_has(task->variants[1].problem, "data set 'titanic' lacks ");
}

static void test_malformed(void **state)
{
	char dir[FOLDER_MAX], path[FOLDER_MAX + 32];
	struct fh_gym_options options = FH_GYM_OPTIONS(.tasks_dir = dir, .state_dir = state_dir);
	const struct fh_task_info *task;

	assert_int_equal(folder_make(dir), 0);
	snprintf(path, sizeof(path), "%s/bad", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/bad/task.yaml", dir);
	assert_done(fd_write_file(path, "nmae: x\n", 8, 0600, &error));
	assert_done(fh_tasks_list(&options, &tasks, &error));
	task = find("bad");
	assert_has(task->problem, "did you mean 'name'");
	assert_string_equal(task->variant, "");
	assert_null(task->name);
	assert_int_equal(task->n_variants, 0);
	assert_int_equal(
			fh_tasks_describe(&options, &FH_ENV_OPTIONS(.task = "bad"), &tasks, &error),
			-EINVAL);
	assert_int_equal(folder_remove(dir), 0);
}

static void test_describe(void **state)
{
	const struct fh_task_info *task = describe(&FH_ENV_OPTIONS(.task = "rows:published"));

	assert_string_equal(task->variant, "published");
	assert_string_equal(task->grader, "csv");
	assert_string_equal(task->submission, "submission.csv");
	assert_int_equal(task->n_data, 0);
	assert_true(task->n_starter > 0 && task->limits.output_bytes == 64 << 10);
	assert_null(task->baseline_command);
	assert_string_equal(task->published[0].name, "Accuracy");
	assert_true(task->n_baseline == 1 && task->baseline[0].value == 0.25);
	assert_false(task->network);
	task = describe(&FH_ENV_OPTIONS(.task = "rows", .variant = "timed"));
	assert_true(task->limits.wall_s == 4);
	assert_null(task->published);
}

static void test_errors(void **state)
{
	struct fh_gym_options options = gym_options();
	struct fh_tasks *none = NULL;
	struct fh_env_options env = FH_ENV_OPTIONS(.task = "rows:no");

	assert_int_equal(fh_tasks_describe(&options, &env, &none, &error), -ENOENT);
	assert_has(error.message, "there are: full, quick");
	env.task = "rowz";
	assert_int_equal(fh_tasks_describe(&options, &env, &none, &error), -ENOENT);
	assert_has(error.message, "did you mean 'rows'");
	assert_int_equal(fh_tasks_describe(&options, NULL, &none, &error), -EINVAL);
	env = FH_ENV_OPTIONS(.task = "rows", .python = "/nonexistent");
	assert_true(fh_tasks_describe(&options, &env, &none, &error) < 0);
	options.tasks_dir = "/nonexistent";
	assert_int_equal(fh_tasks_list(&options, &none, &error), -ENOENT);
	assert_null(none);
	fh_tasks_free(NULL);
}

/* The baseline is known as soon as an environment played it, for the same binds alone. */
static void test_baseline(void **state)
{
	const struct fh_bind bind = { .source = "/etc/hostname", .target = "/data/host" };
	struct fh_env_options options = FH_ENV_OPTIONS(.task = "rows");
	struct fh_env *env;

	assert_null(describe(&options)->baseline);
	env = open_env("rows");
	assert_int_equal(describe(&options)->n_baseline, 1);
	assert_string_equal(fh_tasks_at(tasks, 0)->baseline[0].name, "accuracy");
	assert_true(fh_tasks_at(tasks, 0)->baseline[0].value == 0.5);
	options.binds = &bind;
	options.n_binds = 1;
	assert_null(describe(&options)->baseline);
	fh_env_close(env);
	assert_done(fh_env_open(gym, &options, &env, &error));
	fh_env_close(env);
	assert_true(describe(&options)->baseline[0].value == 0.5);
}

/* A seed selects data, and so a baseline. Data that is not made yet has none. */
static void test_data_seed(void **state)
{
	struct fh_env_options options =
			FH_ENV_OPTIONS(.task = "titanicSurvival:micro", .data_seed = 7);

	assert_null(describe(&options)->problem);
	assert_null(fh_tasks_at(tasks, 0)->baseline);
	options.task = "rows";
	assert_has(describe(&options)->problem, "its data seed can only be 0");
}

static void test_mlgym_root(void **state)
{
	char root[256];
	struct fh_gym_options options = FH_GYM_OPTIONS(.mlgym_root = root, .state_dir = state_dir);

	snprintf(root, sizeof(root), "%s/tests/fixtures/mlgym-root", places_get()->share_dir);
	assert_done(fh_tasks_list(&options, &tasks, &error));
	assert_null(find("titanicSurvival"));
	assert_null(find("coin")->problem);
	assert_string_equal(find("coin")->grader, "mlgym");
	assert_true(find("coin")->network);
	assert_non_null(find("noSuchData")->problem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_list, free_tasks),
		cmocka_unit_test_teardown(test_missing_data, free_tasks),
		cmocka_unit_test_teardown(test_malformed, free_tasks),
		cmocka_unit_test_teardown(test_describe, free_tasks),
		cmocka_unit_test_teardown(test_errors, free_tasks),
		cmocka_unit_test_teardown(test_baseline, free_tasks),
		cmocka_unit_test_teardown(test_data_seed, free_tasks),
		cmocka_unit_test_teardown(test_mlgym_root, free_tasks),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
