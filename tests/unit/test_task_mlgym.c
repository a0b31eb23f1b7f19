/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "task/dataset.h"
#include "task/load.h"

#include <errno.h>

/* Loads tasks of an MLGym checkout, and checks what becomes of their keys. */

static struct fh_error error;
static char *root;

static int load(const char *spec, struct task **out)
{
	const struct task_places places = { .mlgym_root = root };

	return task_load(&places, spec, NULL, out, &error);
}

static struct task *loaded(const char *spec)
{
	struct task *task = NULL;

	assert_done(load(spec, &task));
	assert_true(task->mlgym);
	return task;
}

static void test_python(void **state)
{
	struct task *task = loaded("coin");
	const struct task_grader *g = &task->grader;

	assert_string_equal(task->id, "coin");
	assert_string_equal(task->metric, "Score");
	assert_true(task->maximize);
	assert_int_equal(task->network, NETWORK_HOST);
	assert_int_equal(task->training_timeout_ms, 20000);
	assert_int_equal(g->timeout_ms, 20000);
	assert_int_equal(g->kind, GRADER_MLGYM);
	assert_int_equal(g->call, MLGYM_PYTHON);
	assert_string_equal(g->submission, "strategy.py");
	/* Scoring replaces the agent's copies of the task's files by the originals. Only the
	 * submission is the agent's. */
	assert_int_equal(g->n_evaluators, 2);
	assert_string_equal(g->evaluators[0].target, "evaluate.py");
	assert_string_equal(g->evaluators[1].target, "target.py");
	assert_string_equal(task->starter[1].target, "evaluate.py");
	assert_true(task->starter[1].read_only);
	assert_false(task->starter[2].read_only);
	assert_true(task->baseline_is_published);
	assert_string_equal(task->baseline_command, "python3 evaluate.py");
	assert_has(task->description, "by `guess(seen)`; {0, 1} is");
	assert_int_equal(task->n_warnings, 1);
	assert_has(task->warnings[0], "coin.yaml:21:1: key 'some_new_key'");
	task_free(task);
}

static void test_csv(void **state)
{
	struct task *task = loaded("tasks/rows.yaml");

	assert_string_equal(task->id, "rowsOfNumbers");
	assert_string_equal(task->metric, "Accuracy");
	assert_int_equal(task->grader.call, MLGYM_CSV);
	assert_string_equal(task->grader.submission, "submission.csv");
	assert_int_equal(task->grader.n_evaluators, 1);
	assert_int_equal(task->training_timeout_ms, 3600000);
	assert_has(task->description,
			"ROWS:\nnumbers.csv has a column id and a column n.\n\nWEB:\nMore numbers");
	assert_int_equal(task->n_data, 2);
	assert_string_equal(task->data[0].target, "numbers.csv");
	assert_true(task->data[0].read_only);
	assert_int_equal(task->n_starter, 3);
	assert_string_equal(task->starter[2].target, "sample_submission.csv");
	task_free(task);
}

static void test_model(void **state)
{
	struct task *task = loaded("model");

	assert_int_equal(task->grader.call, MLGYM_MODEL);
	assert_string_equal(task->grader.submission, "");
	assert_false(task->maximize);
	assert_int_equal(task->grader.n_evaluators, 1);
	task_free(task);
	task = loaded("words");
	assert_int_equal(task->grader.call, MLGYM_LM);
	task_free(task);
}

static void test_names(void **state)
{
	auto_free char *path = path_join(root, "configs/tasks/rows.yaml");
	const char *const names[] = { "rows", "rowsOfNumbers", "tasks/rows.yaml", path };
	const struct task_places places = { .mlgym_root = root };
	char **list;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct task *task = loaded(names[i]);

		assert_string_equal(task->file, path);
		task_free(task);
	}
	assert_done(task_list(&places, &list, &error));
	assert_string_equal(list[0], "coin");
	assert_string_equal(list[1], "model");
	xfree_strings(list);
}

static void test_refused(void **state)
{
	static const struct {
		const char *spec;
		int r;
		const char *expected;
	} cases[] = {
		{ "noSuchData", -EINVAL,
				"noSuchData.yaml:5:3: there is no configs/datasets/nowhere" },
		{ "noSuchClass", -EINVAL,
				"noSuchClass.yaml:4:18: unknown class 'DreamSubmissionTasks'; there "
				"are: CSVSubmissionTasks, PythonSubmissionTasks, "
				"ModelSubmissionTasks, LMSubmissionTasks" },
		{ "coim", -ENOENT, "did you mean 'coin'?" },
		{ "../coin", -ENOENT, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct task *task = NULL;

		assert_int_equal(load(cases[i].spec, &task), cases[i].r);
		assert_has(error.message, cases[i].expected);
	}
}

/* Errors in task.yaml files of a checkout that this test writes. */
static void test_files_refused(void **state)
{
	static const struct {
		const char *keys, *expected;
	} cases[] = {
		{ "id: a b\nbaseline_scores: [{m: 1}]\n", "t.yaml:1:5: 'id' can't be the name" },
		{ "id: t\n", "t.yaml:1:1: the task names no metric" },
		{ "id: t\nmetric: {name: m}\n", "'evaluation_paths' names no program" },
		{ "id: t\nbaseline_scores: [{m: 1}]\n", "'evaluation_paths' names no program" },
		{ "id: t\nmetric: {name: m}\nevaluation_pathes: [e.py]\n",
				"names no program that scores; " },
		{ "id: t\nmetric: {name: m}\nevaluation_pathes: [e.py]\n",
				"t.yaml:3:1: key 'evaluation_pathes': unknown key; did you mean "
				"'evaluation_paths'?" },
		{ "id: t\nbaseline_scores: [{m: 1}]\nevaluation_paths: [e.py]\n",
				"t.yaml:3:20: 'e.py' is not in starter_code" },
		{ "id: t\nbaseline_scores: [{m: 1}]\nevaluation_paths: [../e.py]\n",
				"t.yaml:3:20: '../e.py' is not a path in the workspace" },
		{ "id: t\nbaseline_scores: [{m: 1}]\nstarter_code: [../../x]\n", "t.yaml:3:16: " },
		{ "id: t\nbaseline_scores: [{m: 1}]\ndataset_configs: [../t.yaml]\n",
				"t.yaml:3:19: there is no configs/../t.yaml" },
		{ "[]", "t.yaml:1:1: expected a mapping" },
	};
	char folder[FOLDER_MAX];
	const struct task_places places = { .mlgym_root = folder };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *dir = NULL, *path = NULL;
		struct task *task = NULL;
		FILE *file;

		assert_int_equal(folder_make(folder), 0);
		dir = path_join(folder, "configs/tasks");
		path = path_join(dir, "t.yaml");
		assert_done(path_mkdirs(dir, 0755, &error));
		file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "%s%s", cases[i].keys,
				*cases[i].keys == '[' ? "" : "name: T\ndescription: d\n");
		fclose(file);
		assert_true(task_load(&places, "t", NULL, &task, &error) < 0);
		assert_has(error.message, cases[i].expected);
		assert_int_equal(folder_remove(folder), 0);
	}
}

/* A task outside a checkout must not use MLGym's kind of grader. */
static void test_not_ours(void **state)
{
	auto_free char *tasks = path_join(places_get()->share_dir, "tests/tasks");
	const struct task_places places = { .mlgym_root = root, .tasks_dir = tasks };
	struct task *task = NULL;

	assert_done(task_load(&places, "guess", NULL, &task, &error));
	assert_false(task->mlgym);
	assert_int_equal(task->network, NETWORK_NONE);
	task_free(task);
}

static void test_variables(void **state)
{
	struct task *task;

	setenv("MLGYM_ACTION_SHORT_TIMEOUT", "60", 1);
	setenv("MLGYM_AGENT_LONG_TIMEOUT", "900", 1);
	setenv("MLGYM_ACTION_LONG_TIMEOUT", "10000", 1);
	task = loaded("rows");
	assert_int_equal(task->short_timeout_ms, 60000);
	assert_int_equal(task->training_timeout_ms, 900000);
	task_free(task);
	task = loaded("coin");
	assert_int_equal(task->training_timeout_ms, 20000);
	task_free(task);
	unsetenv("MLGYM_ACTION_SHORT_TIMEOUT");
	unsetenv("MLGYM_AGENT_LONG_TIMEOUT");
	unsetenv("MLGYM_ACTION_LONG_TIMEOUT");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_files_refused),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_variables),
	};
	int failed;

	root = path_join(places_get()->share_dir, "tests/fixtures/mlgym-root");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(root);
	return failed;
}
