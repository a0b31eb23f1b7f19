/* SPDX-License-Identifier: Apache-2.0 */
#include "task_scratch.h"

#include "base/mem.h"
#include "config/node.h"
#include "task/load.h"

#include <errno.h>

/* --- tasks that load -------------------------------------------------------------------------- */

static void test_presets(void **state)
{
	const struct scratch *s = *state;
	struct task *t;

	put_task(HEAD SCRIPT BASE);
	t = load(s, "t", NULL);
	assert_string_equal(t->id, "t");
	assert_string_equal(t->variant, "");
	assert_string_equal(t->name, "A task");
	assert_string_equal(t->description, "Do it.");
	assert_true(str_ends(t->dir, "/tasks/t"));
	assert_true(*t->dir == '/');
	assert_string_equal(t->metric, "Score");
	assert_true(t->maximize);
	assert_int_equal(t->max_steps, 50);
	assert_int_equal(t->training_timeout_ms, 3600000);
	assert_int_equal(t->short_timeout_ms, 25000);
	assert_int_equal(t->limits.memory_bytes, 4L << 30);
	assert_int_equal(t->limits.pids, 512);
	assert_true(t->limits.cpus == 0);
	assert_int_equal(t->limits.disk_bytes, 2L << 30);
	assert_int_equal(t->limits.disk_on, DISK_MEMORY);
	assert_int_equal(t->wall_ms, 0);
	assert_int_equal(t->output_bytes, 1 << 20);
	assert_int_equal(t->network, NETWORK_NONE);
	assert_int_equal(t->n_starter + t->n_data + t->n_hidden + t->n_solution, 0);
	assert_string_equal(t->baseline_command, "make");
	assert_null(t->solution_command);
	assert_null(t->demo);
	assert_int_equal(t->grader.kind, GRADER_SCRIPT);
	assert_string_equal(t->grader.submission, "out.txt");
	assert_int_equal(t->grader.submission_bytes, 64 << 20);
	assert_int_equal(t->grader.timeout_ms, 60000);
	assert_true(str_ends(t->grader.program, "/tasks/t/grader/judge.py"));
	assert_string_equal(node_get(t->keys, "name")->text, "A task");
	task_free(t);
}

static const char many_keys[] =
		"id: t\nname: N\ndescription: 'D {training_timeout} {other} {'\n"
		"metric: {name: loss, direction: minimize}\n"
		"training_timeout: 90\nshort_timeout: 5s\nmax_steps: 7\nnetwork: host\n"
		"limits: {memory: 512M, pids: 10, cpus: 1.5, disk: 0, files: 9, disk_on: disk, "
		"output: 64k, wall: 2h}\n"
		"starter_code: [starter/, grader, starter/b/c.py]\n"
		"hidden: [grader/]\nsecret_files: [answers.csv]\n"
		"demo: answers.csv\n"
		"solution: {files: [starter/a.py], command: python3 a.py}\n"
		"sample_submission: answers.csv\n"
		"baseline_paths: [b/c.py]\nbaseline_files: [starter/a.py]\n"
		"baseline_scores: [{Loss: 2.5, other: 1}]\n"
		"benchmark_name: x\ntask_entrypoint: CSVSubmissionTasks\nuse_generic_conda: true\n"
		"evaluation_paths: [e.py]\nevaluation_read_only: true\nmemory_path: m\n"
		"requirements_path: r\n"
		"grader: {kind: csv, submission: ./s.csv, submission_size: 1k, timeout: 3s, "
		"answers: answers.csv, id: id, target: y, metric: log_loss}\n";

static void test_many_keys(void **state)
{
	static const char *const starter[] = { "a.py", "b", "grader", "c.py", "answers.csv", NULL };
	static const char *const hidden[] = { "judge.py", "answers.csv", NULL };
	const struct scratch *s = *state;
	struct task *t;

	put_task(many_keys);
	put("tasks/t/starter/__pycache__/a.pyc", "");
	t = load(s, "t", NULL);
	assert_string_equal(t->description, "D 90 {other} {");
	assert_false(t->maximize);
	assert_int_equal(t->max_steps, 7);
	assert_int_equal(t->training_timeout_ms, 90000);
	assert_int_equal(t->short_timeout_ms, 5000);
	assert_int_equal(t->network, NETWORK_HOST);
	assert_int_equal(t->limits.memory_bytes, 512 << 20);
	assert_int_equal(t->limits.pids, 10);
	assert_true(t->limits.cpus == 1.5);
	assert_int_equal(t->limits.disk_bytes, 0);
	assert_int_equal(t->limits.disk_files, 9);
	assert_int_equal(t->limits.disk_on, DISK_DISK);
	assert_int_equal(t->output_bytes, 65536);
	assert_int_equal(t->wall_ms, 2 * 3600 * 1000);
	check_files(t->starter, t->n_starter, starter);
	check_files(t->hidden, t->n_hidden, hidden);
	assert_string_equal(t->solution[0].target, "a.py");
	assert_string_equal(t->solution_command, "python3 a.py");
	assert_true(str_ends(t->demo, "/answers.csv"));
	assert_string_equal(t->baseline_command, "python3 b/c.py");
	assert_int_equal(t->n_baseline_files, 1);
	assert_string_equal(t->baseline_files[0].target, "a.py");
	assert_int_equal(t->n_published, 2);
	assert_string_equal(t->published[0].name, "Loss");
	assert_true(t->published[0].value == 2.5);
	assert_int_equal(t->grader.kind, GRADER_CSV);
	assert_string_equal(t->grader.csv_metric, "log_loss");
	assert_string_equal(t->grader.id_column, "id");
	assert_string_equal(t->grader.target_column, "y");
	assert_true(str_ends(t->grader.answers, "/tasks/t/answers.csv"));
	assert_int_equal(t->grader.submission_bytes, 1024);
	assert_int_equal(t->grader.timeout_ms, 3000);
	task_free(t);
}

static void test_binds(void **state)
{
	const struct scratch *s = *state;
	auto_free char *starter = path_join(s->tasks, "t/starter/b");
	auto_free char *real = NULL;
	struct task *t;

	put_task(HEAD SCRIPT BASE "sandbox: {bind: [/etc/hostname, 'starter/b:/data/b']}\n");
	t = load(s, "t", NULL);
	assert_false(t->simulators);
	assert_int_equal(t->n_binds, 2);
	assert_string_equal(t->binds[0].target, "/etc/hostname");
	real = realpath(starter, NULL);
	assert_string_equal(t->binds[1].source, real);
	assert_string_equal(t->binds[1].target, "/data/b");
	task_free(t);
}

static void test_simulators(void **state)
{
	struct task *t;

	put_task(HEAD SCRIPT BASE "sandbox: {simulators: true}\n");
	t = load(*state, "t", NULL);
	assert_true(t->simulators);
	assert_int_equal(t->n_binds, 0);
	task_free(t);
}

static void test_duel(void **state)
{
	const struct scratch *s = *state;
	struct task *t;

	put_task(HEAD BASE "grader: {kind: duel, submission: s.py, program: grader/judge.py, "
			   "args: [-n, 5], functions: [move], cpu_metric: Time}\n");
	t = load(s, "t", NULL);
	assert_int_equal(t->grader.kind, GRADER_DUEL);
	assert_string_equal(t->grader.args[1], "5");
	assert_null(t->grader.args[2]);
	assert_string_equal(t->grader.functions[0], "move");
	assert_null(t->grader.player);
	assert_int_equal(t->grader.players, 1);
	assert_string_equal(t->grader.cpu_metric, "Time");
	task_free(t);
}

/* --- variants --------------------------------------------------------------------------------- */

static const char varied[] = HEAD SCRIPT BASE
		"training_timeout: 1h\nlimits: {memory: 2G, pids: 9}\n"
		"variants:\n  micro:\n    training_timeout: 5s\n    limits: {memory: 64M}\n"
		"  mini:\n    baseline: ~\n    baseline_paths: [x.py]\n";

static void test_variants(void **state)
{
	const struct scratch *s = *state;
	auto_free char *path = path_join(s->tasks, "t:micro");
	static const struct {
		const char *spec, *variant, *name;
		int64_t timeout_ms, memory;
	} cases[] = {
		{ "t", NULL, "", 3600000, 2L << 30 },
		{ "t:micro", NULL, "micro", 5000, 64 << 20 },
		{ "t", "micro", "micro", 5000, 64 << 20 },
		{ "t:mini", "micro", "micro", 5000, 64 << 20 },
		{ "t:full", NULL, "", 3600000, 2L << 30 },
		{ "t:micro", "full", "", 3600000, 2L << 30 },
		{ "t:micro", "", "micro", 5000, 64 << 20 },
		{ "./tasks/t:micro", NULL, "micro", 5000, 64 << 20 },
	};
	struct task *t;

	put_task(varied);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		t = load(s, cases[i].spec, cases[i].variant);
		assert_string_equal(t->id, "t");
		assert_string_equal(t->variant, cases[i].name);
		assert_int_equal(t->training_timeout_ms, cases[i].timeout_ms);
		assert_int_equal(t->limits.memory_bytes, cases[i].memory);
		assert_int_equal(t->limits.pids, 9);
		task_free(t);
	}
	t = load(s, path, NULL);
	assert_string_equal(t->variant, "micro");
	task_free(t);
	t = load(s, "t:mini", NULL);
	assert_string_equal(t->baseline_command, "python3 x.py");
	task_free(t);
	refuse(s, "t:none", -ENOENT,
			"task 't' has no variant 'none'; there are: full, micro, mini");
}

static void test_default_variant(void **state)
{
	const struct scratch *s = *state;
	struct task *t;

	put_task(HEAD SCRIPT BASE "default_variant: quick\nvariants: {quick: {max_steps: 3}}\n");
	t = load(s, "t", NULL);
	assert_string_equal(t->variant, "quick");
	assert_int_equal(t->max_steps, 3);
	task_free(t);
	t = load(s, "t:full", NULL);
	assert_int_equal(t->max_steps, 50);
	task_free(t);
}

static void test_listing(void **state)
{
	const struct scratch *s = *state;
	char **names;
	size_t n = 0;

	put_task(varied);
	put("tasks/another/task.yaml", "x");
	put("tasks/no/readme", "x");
	put("tasks/.hidden/task.yaml", "x");
	/* The list has installed tasks too: count only those of this test. */
	assert_int_equal(task_list(&s->places, &names, NULL), 0);
	for (size_t i = 0; names[i]; i++) {
		n += str_eq(names[i], "t") || str_eq(names[i], "another");
		assert_string_not_equal(names[i], "no");
		assert_string_not_equal(names[i], ".hidden");
		assert_true(!i || strcmp(names[i - 1], names[i]) < 0);
	}
	xfree_strings(names);
	assert_int_equal(n, 2);
	assert_int_equal(task_variants(&s->places, "t", &names, NULL), 0);
	assert_string_equal(names[0], "full");
	assert_string_equal(names[1], "micro");
	assert_string_equal(names[2], "mini");
	assert_null(names[3]);
	xfree_strings(names);
}

static void check_found(const struct scratch *s, const char *spec, const char *id)
{
	struct task *t = load(s, spec, NULL);

	assert_string_equal(t->id, id);
	task_free(t);
}

static void test_aliases(void **state)
{
	const struct scratch *s = *state;

	put_task(HEAD SCRIPT BASE "aliases: [old, older]\nvariants: {quick: {max_steps: 3}}\n");
	check_found(s, "old", "t");
	check_found(s, "older:quick", "t");
	refuse(s, "oldre", -ENOENT, "no task 'oldre'; did you mean 'older'?");
	refuse(s, "old:none", -ENOENT, "task 't' has no variant 'none'; there are: full, quick");
	refuse(s, "./old", -ENOENT, "find task './old'");
	/* If tasks share an alias, the first task by name wins. A task's folder name wins over an
	 * alias. */
	put("tasks/a/task.yaml",
			HEAD BASE
			"aliases: [older]\n"
			"grader: {kind: script, submission: out.txt, program: judge.py}\n");
	put("tasks/a/judge.py", "judge");
	check_found(s, "older", "a");
	put("tasks/old/task.yaml",
			HEAD BASE
			"grader: {kind: script, submission: out.txt, program: judge.py}\n");
	put("tasks/old/judge.py", "judge");
	check_found(s, "old", "old");
	/* If a task.yaml can't be parsed, its aliases are skipped. */
	put("tasks/a/task.yaml", "aliases: [");
	check_found(s, "older", "t");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_presets),
		scratch_test(test_many_keys),
		scratch_test(test_binds),
		scratch_test(test_simulators),
		scratch_test(test_duel),
		scratch_test(test_variants),
		scratch_test(test_default_variant),
		scratch_test(test_listing),
		scratch_test(test_aliases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
