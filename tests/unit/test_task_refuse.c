/* SPDX-License-Identifier: Apache-2.0 */
#include "task/load.h"
#include "task_scratch.h"

#include <errno.h>

static void test_names(void **state)
{
	const struct scratch *s = *state;

	put_task(HEAD SCRIPT BASE);
	put("tasks/another/task.yaml", "x");
	refuse(s, "anothre", -ENOENT, "no task 'anothre'; did you mean 'another'?");
	refuse(s, "zzzzzzzz", -ENOENT, "no task 'zzzzzzzz'; there are: ");
	refuse(s, "", -EINVAL, "'' can't be the name of a task");
	refuse(s, "a b", -EINVAL, "'a b' can't be the name of a task");
	refuse(s, "..", -EINVAL, "'..' can't be the name of a task");
	refuse(s, "t:", -EINVAL, "'' can't be the name of a variant");
	refuse(s, "t:a b", -EINVAL, "'a b' can't be the name of a variant");
	refuse(s, "t:../x", -ENOENT, "find task 't:../x'");
	refuse(s, "./nowhere", -ENOENT, "find task './nowhere'");
}

static void test_bad_files(void **state)
{
	static const struct {
		const char *yaml;
		int code;
		const char *error;
	} cases[] = {
		{ HEAD SCRIPT BASE "max_stpes: 3\n", -EINVAL,
				"task.yaml:6:1: key 'max_stpes': unknown key; did you mean 'max_steps'?" },
		{ HEAD SCRIPT BASE "id: other\n", -EINVAL,
				"task.yaml:6:5: id 'other' is not the folder's name, 't'" },
		{ HEAD SCRIPT BASE "aliases: [old, a/b]\n", -EINVAL,
				"task.yaml:6:10: 'a/b' can't be the name of a task" },
		{ HEAD SCRIPT BASE "variants: {v: {aliases: [old]}}\n", -EINVAL,
				"task.yaml:6:25: a variant can't have 'aliases'" },
		{ HEAD BASE, -EINVAL, "task.yaml:1:1: task: key 'grader' is missing" },
		{ HEAD SCRIPT, -EINVAL, "task.yaml:1:1: no baseline: give 'baseline'" },
		{ HEAD SCRIPT "baseline_scores: [{other: 1}]\n", -EINVAL,
				"task.yaml:1:1: no baseline: " },
		{ HEAD SCRIPT "baseline_scores: [{Score: x}]\n", -EINVAL,
				"task.yaml:5:27: 'Score': expected a number" },
		{ HEAD SCRIPT "baseline_scores: 3\n", -EINVAL,
				"task.yaml:5:18: expected a mapping of metrics to numbers" },
		{ HEAD SCRIPT "baseline_paths: ['../x.py']\n", -EINVAL,
				"task.yaml:5:17: '../x.py' is not a path in the workspace" },
		{ HEAD SCRIPT "baseline_paths: ['x;rm']\n", -EINVAL, "task.yaml:5:17: 'x;rm'" },
		{ HEAD SCRIPT BASE "starter_code: [nothing.py]\n", -ENOENT,
				"task.yaml:6:16: find 'nothing.py' in " },
		{ HEAD SCRIPT BASE "starter_code: [../../secret]\n", -EPERM,
				"task.yaml:6:16: '../../secret' leads out of " },
		{ HEAD SCRIPT BASE "starter_code: [/etc/passwd]\n", -EPERM,
				"task.yaml:6:16: '/etc/passwd' leads out of " },
		{ HEAD SCRIPT BASE "starter_code: [leak]\n", -EPERM,
				"task.yaml:6:16: 'leak' leads out of " },
		{ HEAD SCRIPT BASE "starter_code: [deep]\n", -EPERM, "task.yaml:6:16: '" },
		{ HEAD SCRIPT BASE "hidden: [starter/, deep/]\n", -EPERM, "task.yaml:6:20: '" },
		{ HEAD SCRIPT BASE "demo: leak\n", -EPERM, "task.yaml:6:7: 'leak' leads out of " },
		{ HEAD SCRIPT BASE "starter_code: [starter/, starter/a.py]\n", -EINVAL,
				"task.yaml:6:26: 'a.py' comes from both " },
		{ HEAD SCRIPT BASE "starter_code: ['none:x']\n", -EINVAL,
				"task.yaml:6:16: 'none' is not one of dataset_configs" },
		{ HEAD SCRIPT BASE "dataset_configs: [missing]\n", -ENOENT,
				"task.yaml:6:19: no data set 'missing': there is no "
				"datasets/missing.yaml" },
		{ HEAD SCRIPT BASE "dataset_configs: [../x]\n", -EINVAL,
				"task.yaml:6:19: '../x' can't be the name of a data set" },
		{ HEAD SCRIPT BASE "variants: [a]\n", -EINVAL,
				"task.yaml:6:11: 'variants': expected a mapping" },
		{ HEAD SCRIPT BASE "variants: {a: 3}\n", -EINVAL,
				"task.yaml:6:15: 'a': expected a mapping" },
		{ HEAD SCRIPT BASE "variants: {a: {id: x}}\n", -EINVAL,
				"task.yaml:6:20: a variant can't have 'id'" },
		{ HEAD SCRIPT BASE "variants: {full: {}}\n", -EINVAL,
				"task.yaml:6:12: 'full' can't be the name of a variant" },
		{ HEAD SCRIPT BASE "default_variant: x\n", -EINVAL,
				"task.yaml:6:18: there is no variant 'x'; there are: full" },
		{ HEAD SCRIPT BASE "default_variant: v\nvariants: {v: {maxsteps: 1}}\n", -EINVAL,
				"task.yaml:7:16: key 'maxsteps': unknown key; did you mean 'max_steps'?" },
		{ HEAD SCRIPT BASE "sandbox: {bind: [starter]}\n", -EINVAL,
				"task.yaml:6:18: 'starter': expected SRC:DST" },
		{ HEAD SCRIPT BASE "sandbox: {bind: [':/data']}\n", -EINVAL,
				"task.yaml:6:18: ':/data': expected SRC:DST" },
		{ HEAD SCRIPT BASE "sandbox: {bind: ['starter:data']}\n", -EINVAL,
				"task.yaml:6:18: bind '" },
		{ HEAD SCRIPT BASE "sandbox: {bind: ['/:data']}\n", -EINVAL,
				"task.yaml:6:18: bind '/': the target 'data' must be an absolute path" },
		{ HEAD SCRIPT BASE "sandbox: {bind: ['/srv:/usr']}\n", -EINVAL,
				"task.yaml:6:18: bind '/srv': at '/usr' it would hide what a sandbox needs" },
		{ HEAD SCRIPT BASE "sandbox: {bind: ['../../secret:/data']}\n", -EPERM,
				"task.yaml:6:18: '../../secret' leads out of " },
		{ HEAD SCRIPT BASE "sandbox: {bind: [/no/such/place]}\n", -ENOENT,
				"task.yaml:6:18: find '/no/such/place': No such file" },
		{ HEAD SCRIPT BASE "sandbox: {bind: ['grader:/data']}\n", -EINVAL,
				"task.yaml:6:18: the agent could read hidden files in '" },
		{ HEAD SCRIPT BASE "sandbox: {bind: ['grader/judge.py:/data/x']}\n", -EINVAL,
				"task.yaml:6:18: the agent could read hidden files in '" },
		{ HEAD SCRIPT BASE "sandbox: {bind: ['starter/a.py:/data']}\nhidden: [starter/]\n",
				-EINVAL, "task.yaml:6:18: the agent could read hidden files in '" },
		{ HEAD SCRIPT BASE "sandbox: {bind: ['starter/a.py:/data']}\nhidden: [starter]\n",
				-EINVAL, "task.yaml:6:18: the agent could read hidden files in '" },
		{ HEAD SCRIPT BASE "sandbox: {bind: ['/:/data']}\n", -EINVAL,
				"task.yaml:6:18: the agent could read hidden files in '/'" },
		{ "", -EINVAL, "task.yaml:1:1: task: expected a mapping, found nothing" },
	};
	const struct scratch *s = *state;

	put("secret", "x");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put_task(cases[i].yaml);
		if (i == 0) {
			assert_int_equal(symlink("../../secret", "tasks/t/leak"), 0);
			put("tasks/t/deep/x", "");
			assert_int_equal(symlink("/etc", "tasks/t/deep/etc"), 0);
		}
		refuse(s, "t", cases[i].code, cases[i].error);
	}
}

static void test_bad_graders(void **state)
{
#define CSV "grader: {kind: csv, submission: s, answers: answers.csv, id: id, target: y"
	static const struct {
		const char *grader, *error;
	} cases[] = {
		{ "grader: {kind: quiz, submission: s}",
				"task.yaml:5:16: 'kind': expected one of 'csv', "
				"'script', 'duel', 'mlgym', found 'quiz'" },
		{ "grader: {kind: mlgym, submission: s}",
				"task.yaml:5:16: the mlgym grader is for tasks of a checkout" },
		{ CSV "}", "task.yaml:5:9: a csv grader wants 'metric'" },
		{ CSV ", metric: ~}", "task.yaml:5:9: a csv grader wants 'metric'" },
		{ CSV ", metric: best}", "task.yaml:5:85: 'metric': expected one of" },
		{ CSV ", metric: f1, range: [0]}",
				"task.yaml:5:96: 'range': expected two numbers, [least, most]" },
		{ CSV ", metric: f1, range: [1, 0]}",
				"task.yaml:5:96: 'range': expected two numbers, [least, most]" },
		{ "grader: {kind: script, submission: s, program: grader/judge.py, range: [0, 1]}",
				"task.yaml:5:72: a script grader takes no 'range'" },
		{ CSV ", metric: f1, program: x}",
				"task.yaml:5:98: a csv grader takes no 'program'" },
		{ "grader: {kind: script, submission: s}",
				"task.yaml:5:9: a script grader wants 'program'" },
		{ "grader: {kind: script, submission: s, program: grader/judge.py, player: x}",
				"task.yaml:5:73: a script grader takes no 'player'" },
		{ "grader: {kind: duel, submission: s, program: grader/judge.py}",
				"task.yaml:5:9: a duel grader wants 'functions' or 'player'" },
		{ "grader: {kind: duel, submission: s, program: nowhere.py, functions: [f]}",
				"task.yaml:5:46: find 'nowhere.py'" },
		{ "grader: {kind: script, submission: ../s, program: grader/judge.py}",
				"task.yaml:5:36: '../s' is not a path in the workspace" },
		{ "grader: {kind: script, submission: /s, program: grader/judge.py}",
				"task.yaml:5:36: '/s' is not a path in the workspace" },
	};
	const struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf yaml = BUF_INIT(4096);
		struct fh_error err = FH_ERROR_INIT;
		struct task *task = NULL;

		buf_printf(&yaml, "%s%s%s\n", HEAD, BASE, cases[i].grader);
		put_task(buf_str(&yaml));
		assert_true(task_load(&s->places, "t", NULL, &task, &err) < 0);
		if (!strstr(err.message, cases[i].error))
			fail_msg("'%s' is not in '%s'", cases[i].error, err.message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_names),
		scratch_test(test_bad_files),
		scratch_test(test_bad_graders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
