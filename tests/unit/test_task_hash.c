/* SPDX-License-Identifier: Apache-2.0 */
#include "task_scratch.h"

static void hash(const struct scratch *s, const char *spec, char hex[SHA256_HEX_BYTES])
{
	struct fh_error err = FH_ERROR_INIT;
	struct task *t = load(s, spec, NULL);

	if (task_hash(t, hex, &err) < 0)
		fail_msg("%s", err.message);
	task_free(t);
}

/* Each change may change the baseline's score, so the task's hash must differ from all others. */
static void test_hash_changes(void **state)
{
	static const struct {
		const char *path, *text;
	} changes[] = {
		{ "tasks/t/starter/a.py", "other" },
		{ "tasks/t/starter/b/c.py", "other" },
		{ "tasks/t/starter/b/new.py", "" },
		{ "tasks/t/grader/judge.py", "other" },
		{ "tasks/t/answers.csv", "other" },
		{ "data/train.csv", "other" },
		{ "tasks/t/lib/x", "other" },
		{ "tasks/t/task.yaml", NULL },
	};
	const struct scratch *s = *state;
	char hashes[ARRAY_SIZE(changes) + 3][SHA256_HEX_BYTES];
	size_t n = 0;

	put_task(HEAD SCRIPT BASE "starter_code: [starter/]\nhidden: [answers.csv]\n"
				  "dataset_configs: [d]\nvariants: {v: {}}\n"
				  "sandbox: {bind: ['lib:/data/lib']}\n");
	put("tasks/t/lib/x", "x");
	put("datasets/d.yaml",
			"name: D\ndescription: x\nlocation: data\n"
			"files: [{path: train.csv}]\n");
	put("data/train.csv", "abc");
	hash(s, "t", hashes[n++]);
	hash(s, "t:v", hashes[n++]);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		put(changes[i].path,
				changes[i].text ? changes[i].text
						: HEAD SCRIPT BASE
						"starter_code: [starter/]\nhidden: [answers.csv]\n"
						"dataset_configs: [d]\nmax_steps: 3\n");
		hash(s, "t", hashes[n++]);
	}
	assert_int_equal(chmod("tasks/t/starter/a.py", 0755), 0);
	hash(s, "t", hashes[n++]);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (str_eq(hashes[i], hashes[j]))
				fail_msg("%zu and %zu have the same hash", j, i);
}

static void test_hash_stays(void **state)
{
	const struct scratch *s = *state;
	char first[SHA256_HEX_BYTES], second[SHA256_HEX_BYTES];

	put_task(HEAD SCRIPT BASE "starter_code: [starter]\n");
	hash(s, "t", first);
	put("tasks/t/README.md", "not part of it");
	put("tasks/t/starter/b/__pycache__/c.pyc", "not either");
	put("tasks/t/starter/b/c.py", "c"); /* a new file with the same text */
	hash(s, "t", second);
	assert_string_equal(first, second);
	/* The hash stays the same if the task's folder is moved. */
	assert_int_equal(rename("tasks", "tasks2"), 0);
	hash(s, "./tasks2/t", second);
	assert_string_equal(first, second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_hash_changes),
		scratch_test(test_hash_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
