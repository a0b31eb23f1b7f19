/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"
#include "base/sha256.h"
#include "task/load.h"
#include "task_scratch.h"

#include <errno.h>

static const char with_data[] = HEAD BASE
		"dataset_configs: [d]\n"
		"hidden: ['d:answers.csv']\n"
		"grader: {kind: csv, submission: s, answers: 'd:answers.csv', id: id, target: y, "
		"metric: f1}\n";

static const char *const hidden_targets[] = { "answers.csv", NULL };
static const char *const data_targets[] = { "train.csv", "more/test.csv", NULL };

#define DATASET                                                                                    \
	"name: Data\ndescription: |\n  What it is.\nhow_to_get: ask for it\n"                      \
	"files:\n  - {path: train.csv, sha256: "                                                   \
	"BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD}\n"                      \
	"  - {path: test.csv, target: ./more//test.csv}\n"                                         \
	"  - {path: answers.csv, hidden: true}\n"

static void test_data_of_the_user(void **state)
{
	const struct scratch *s = *state;
	auto_free char *dir = data_dir("d");
	auto_free char *answers = path_join(dir, "answers.csv");
	struct fh_error err = FH_ERROR_INIT;
	struct task *t;

	put_task(with_data);
	put("datasets/d.yaml", DATASET);
	put_data("d", "train.csv", "abc");
	put_data("d", "test.csv", "");
	assert_int_equal(task_load(&s->places, "t", NULL, &t, &err), -ENODATA);
	assert_true(str_starts(err.message, "data set 'd' lacks answers.csv in "));
	assert_non_null(strstr(err.message, dir));
	assert_true(str_ends(err.message, ": ask for it"));
	put("elsewhere", "x");
	/* A data set's file may be a link: users keep large files wherever they like. */
	assert_int_equal(symlink("../../../elsewhere", answers), 0);
	t = load(s, "t", NULL);
	check_files(t->data, t->n_data, data_targets);
	assert_true(str_ends(t->grader.answers, answers));
	check_files(t->hidden, t->n_hidden, hidden_targets);
	assert_int_equal(dataset_verify(&t->datasets[0], &err), 0);
	put_data("d", "train.csv", "abd");
	assert_int_equal(dataset_verify(&t->datasets[0], &err), -EINVAL);
	assert_non_null(strstr(err.message, "/datasets/d.yaml:"));
	assert_non_null(strstr(err.message, "/train.csv has sha256 "));
	task_free(t);
}

static void test_data_that_ships(void **state)
{
	const struct scratch *s = *state;
	struct task *t;

	put_task(with_data);
	put("tasks/t/datasets/d.yaml", DATASET "location: files/d\n");
	put("datasets/d.yaml", "the task's own comes first");
	put("tasks/t/files/d/train.csv", "");
	put("tasks/t/files/d/test.csv", "");
	put("tasks/t/files/d/answers.csv", "");
	t = load(s, "t", NULL);
	check_files(t->data, t->n_data, data_targets);
	assert_true(str_ends(t->data[0].source, "/tasks/t/files/d/train.csv"));
	task_free(t);
	/* A data set that ships with a task must not have a link to a file outside its folder. */
	assert_int_equal(unlink("tasks/t/files/d/train.csv"), 0);
	assert_int_equal(symlink("/etc/passwd", "tasks/t/files/d/train.csv"), 0);
	refuse(s, "t", -EPERM, "task.yaml:5:19: 'train.csv' leads out of ");
	put("tasks/t/datasets/d.yaml", DATASET "location: ../../datasets\n");
	refuse(s, "t", -EPERM, "task.yaml:5:19: location of data set 'd': '../../datasets' leads");
}

/* Loads a task with a data set generated with these arguments. Returns its answers' path. */
static char *made_path(const struct scratch *s, const char *args)
{
	char yaml[400];
	struct task *t;
	char *path;

	snprintf(yaml, sizeof(yaml), DATASET "make: {program: make.py, args: [%s]}\n", args);
	put("tasks/t/datasets/d.yaml", yaml);
	t = load(s, "t", NULL);
	assert_int_equal(t->n_data, 2);
	assert_string_equal(t->data[1].target, "more/test.csv");
	assert_false(dataset_is_there(&t->datasets[0]));
	assert_int_equal(dataset_verify(&t->datasets[0], NULL), 0);
	path = strdup(t->grader.answers);
	task_free(t);
	return path;
}

/* Computes the name that a data folder had before there were data seeds. A data seed of 0 must give
 * the same. */
static void old_folder(char out[17])
{
	static const char *const parts[] = { "a", NULL, "train.csv", NULL, "test.csv", NULL,
		"answers.csv", "hidden" };
	struct secret secret;
	auto_free char *dir = data_dir("d");
	char hex[SHA256_HEX_BYTES];
	struct sha256 h;

	assert_int_equal(sha256_file("tasks/t/make.py", hex, NULL), 0);
	sha256_init(&h);
	sha256_add_str(&h, hex);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		sha256_add_str(&h, parts[i]);
	sha256_end_hex(&h, hex);
	memset(secret.bytes, '0', sizeof(secret.bytes));
	secret_key(&secret, "folder", path_basename(dir), hex, hex);
	snprintf(out, 17, "%s", hex);
}

static void test_data_seeds(void **state)
{
	const struct scratch *s = *state;
	struct scratch own = *s;
	char *paths[3], old[17];

	unsetenv("FUMEHOOD_JUDGE_KEY");
	put_task(with_data);
	put("tasks/t/make.py", "one");
	put("state/judge.key", "00000000000000000000000000000000");
	old_folder(old);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		own.places.data_seed = i;
		paths[i] = made_path(&own, "a");
		assert_int_equal(strstr(paths[i], old) != NULL, i == 0);
	}
	assert_string_not_equal(paths[1], paths[2]);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		free(paths[i]);

	put_task(HEAD SCRIPT BASE);
	refuse(&own, "t", -EINVAL,
			"task 't' has no generated data, so its data seed can only be 0");
}

/* A task loads before its data is generated. The folder's name depends on all that the data is made
 * from. */
static void test_data_that_is_made(void **state)
{
	const struct scratch *s = *state;
	struct task *t;
	char *paths[7];

	unsetenv("FUMEHOOD_JUDGE_KEY");
	put_task(with_data);
	put("tasks/t/make.py", "one");
	paths[0] = made_path(s, "a, b");
	put("state/judge.key", "00000000000000000000000000000000");
	paths[1] = made_path(s, "a, b");
	paths[2] = made_path(s, "ab");
	put("tasks/t/make.py", "two");
	paths[3] = made_path(s, "ab");
	put("state/judge.key", "00000000000000000000000000000001");
	paths[4] = made_path(s, "ab");
	assert_int_equal(rename("tasks", "elsewhere"), 0);
	assert_int_equal(symlink("elsewhere", "tasks"), 0);
	paths[5] = made_path(s, "ab");
	/* The data set's file no longer hides the answers, which gives another folder. */
	put("tasks/t/datasets/d.yaml",
			"name: D\ndescription: x\nmake: {program: make.py, args: [ab]}\n"
			"files: [{path: train.csv}, {path: test.csv}, {path: answers.csv}]\n");
	t = load(s, "t", NULL);
	paths[6] = strdup(t->grader.answers);
	task_free(t);
	for (int i = 0; i < 7; i++) {
		assert_non_null(strstr(paths[i], "/state/data/d@"));
		assert_true(str_ends(paths[i], "/answers.csv"));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(paths[i], paths[k]);
	}
	for (int i = 0; i < 7; i++)
		free(paths[i]);

	put("tasks/t/datasets/d.yaml", DATASET "location: files\nmake: {program: make.py}\n");
	refuse(s, "t", -EINVAL, "task.yaml:5:19: ");
	put("tasks/t/datasets/d.yaml", DATASET "make: {program: ../../elsewhere}\n");
	refuse(s, "t", -EPERM, "task.yaml:5:19: how data set 'd' is made: '../../elsewhere' leads");
	put("tasks/t/datasets/d.yaml", DATASET "make: {program: none.py}\n");
	refuse(s, "t", -ENOENT, "task.yaml:5:19: how data set 'd' is made: find 'none.py' in ");
}

static void test_bad_data(void **state)
{
#define NAMED "name: D\ndescription: x\n"
	static const struct {
		const char *yaml, *error;
	} cases[] = {
		{ NAMED, "/datasets/d.yaml:1:1: dataset: key 'files' is missing" },
		{ NAMED "id: e\nfiles: []\n",
				"/datasets/d.yaml:3:5: id 'e' is not the file's name, 'd'" },
		{ NAMED "files: [{path: ../x}]\n",
				"/datasets/d.yaml:3:9: '../x' leads out of its folder" },
		{ NAMED "files: [{path: x, target: /x}]\n",
				"/datasets/d.yaml:3:9: '/x' leads out of its folder" },
		{ NAMED "files: [{path: x, traget: y}]\n",
				"/datasets/d.yaml:3:19: key 'traget': unknown key; did you mean 'target'?" },
		{ NAMED "files: [{path: a, target: c}, {path: b, target: c}]\n",
				"two data sets have a file 'c'" },
		{ NAMED "files: [{path: a}]\n", "data set 'd' has no file 'answers.csv'" },
	};
	const struct scratch *s = *state;

	put_task(with_data);
	put_data("d", "a", "");
	put_data("d", "b", "");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fh_error err = FH_ERROR_INIT;
		struct task *task = NULL;

		put("datasets/d.yaml", cases[i].yaml);
		assert_int_equal(task_load(&s->places, "t", NULL, &task, &err), -EINVAL);
		if (!strstr(err.message, cases[i].error))
			fail_msg("'%s' is not in '%s'", cases[i].error, err.message);
	}
}

static void test_dataset_docs(void **state)
{
	const struct scratch *s = *state;
	struct task *t;

	put_task("name: N\ndescription: |\n  See:\n  {dataset_docs}\n  Bye.\n"
		 "metric: {name: Score, direction: maximize}\n" SCRIPT BASE
		 "dataset_configs: [hid, datasets/d.yaml, e]\n");
	/* All files of this data set are hidden, so the description must not mention it. */
	put("datasets/hid.yaml", "name: H\ndescription: x\nfiles: [{path: e, hidden: true}]\n");
	put_data("hid", "e", "");
	put("datasets/d.yaml", DATASET);
	put("datasets/e.yaml", "name: E\ndescription: Of {dataset_docs}.\nfiles: [{path: e/}]\n");
	put_data("d", "train.csv", "");
	put_data("d", "test.csv", "");
	put_data("d", "answers.csv", "");
	put_data("e", "e/x", "");
	t = load(s, "t", NULL);
	assert_string_equal(t->description,
			"See:\nData\nWhat it is.\nFiles: `data/train.csv`, `data/more/test.csv`\n\n"
			"E\nOf {dataset_docs}.\nFiles: `data/e`\nBye.\n");
	task_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_data_of_the_user),
		scratch_test(test_data_that_ships),
		scratch_test(test_data_seeds),
		scratch_test(test_data_that_is_made),
		scratch_test(test_bad_data),
		scratch_test(test_dataset_docs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
