/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TASK_SCRATCH_H
#define TESTS_TASK_SCRATCH_H

#include "fixture.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "task/dataset.h"
#include "task/load.h"

/* Makes a folder with `tasks`, `datasets` and `state` for each test, which runs in it. */
struct scratch {
	char dir[FOLDER_MAX];
	char *tasks, *state;
	char *cwd;
	struct task_places places;
};

static inline int make_scratch(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	if (folder_make(s->dir) < 0)
		return -1;
	s->cwd = getcwd(NULL, 0);
	s->tasks = path_join(s->dir, "tasks");
	s->state = path_join(s->dir, "state");
	s->places = (struct task_places){ .tasks_dir = s->tasks, .state_dir = s->state };
	*state = s;
	return chdir(s->dir) | path_mkdirs(s->tasks, 0755, NULL);
}

static inline int remove_scratch(void **state)
{
	struct scratch *s = *state;
	int r = chdir(s->cwd);

	r |= folder_remove(s->dir);
	free(s->cwd);
	free(s->tasks);
	free(s->state);
	free(s);
	return r;
}

static inline void put(const char *path, const char *text)
{
	auto_free char *dir = path_dirname(path);

	assert_int_equal(path_mkdirs(dir, 0755, NULL), 0);
	assert_int_equal(fd_write_file(path, text, strlen(text), 0644, NULL), 0);
}

/* Folder into which a user would put the files of the data set `id`. */
static inline char *data_dir(const char *id)
{
	auto_free char *tasks = realpath("tasks", NULL);
	auto_free char *store = dataset_store(id, tasks);

	return xasprintf("state/data/%s", store);
}

static inline void put_data(const char *id, const char *name, const char *text)
{
	auto_free char *dir = data_dir(id);
	auto_free char *path = path_join(dir, name);

	put(path, text);
}

/* Beginning of a task.yaml, with the keys that every task needs. */
#define HEAD                                                                                       \
	"name: A task\n"                                                                           \
	"description: Do it.\n"                                                                    \
	"metric: {name: Score, direction: maximize}\n"

#define SCRIPT "grader: {kind: script, submission: out.txt, program: grader/judge.py}\n"
#define BASE "baseline: make\n"

static inline void put_task(const char *yaml)
{
	put("tasks/t/task.yaml", yaml);
	put("tasks/t/grader/judge.py", "judge");
	put("tasks/t/starter/a.py", "a");
	put("tasks/t/starter/b/c.py", "c");
	put("tasks/t/answers.csv", "id,y\n");
}

static inline struct task *load(const struct scratch *s, const char *spec, const char *variant)
{
	struct fh_error err = FH_ERROR_INIT;
	struct task *task = NULL;

	if (task_load(&s->places, spec, variant, &task, &err) < 0)
		fail_msg("%s", err.message);
	return task;
}

/* Expects that loading a task fails with a code and a message. `expected` leaves out folders before
 * "task.yaml" or the data set. */
static inline void refuse(const struct scratch *s, const char *spec, int code, const char *expected)
{
	struct fh_error err = FH_ERROR_INIT;
	struct task *task = NULL;
	const char *message = err.message;
	int r = task_load(&s->places, spec, NULL, &task, &err);

	if (r >= 0)
		fail_msg("taken, but expected: %s", expected);
	assert_null(task);
	if (strstr(message, "/task.yaml:"))
		message = strstr(message, "/task.yaml:") + 1;
	if (!str_starts(message, expected))
		fail_msg("'%s' does not begin with '%s'", message, expected);
	assert_int_equal(r, code);
}

static inline void check_files(const struct task_file *files, size_t n, const char *const *targets)
{
	size_t i;

	for (i = 0; targets[i]; i++) {
		assert_true(i < n);
		assert_string_equal(files[i].target, targets[i]);
		assert_true(files[i].source[0] == '/');
		assert_true(path_exists(files[i].source));
	}
	assert_int_equal(i, n);
}

#define scratch_test(f) cmocka_unit_test_setup_teardown(f, make_scratch, remove_scratch)

#endif
