/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "base/walk.h"
#include "bench/episode.h"
#include "bench/proc.h"
#include "bench/suites.h"

#include <fumehood/task.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Measures resets of the tasks that this machine has played, each in turn with all others. Two more
 * tasks are made for the suite. LARGE has 200 MB of data in 50,000 files, SMALL has none.
 */
#define REFERENCE "battleOfSexes"
#define SMALL "bench-small"
#define LARGE "bench-large"
#define TASKS_MAX 48
#define TASK_MOST 1.2 /* a reset takes at most this many times as long as that of REFERENCE */
#define FOLDERS 100
#define FILES_EACH 500
#define FILE_BYTES 4000
#define IDLE 16 /* episodes that are alive while their memory is measured */

struct entrants {
	struct fh_gym *gym;
	struct fh_gym_options options;
	char *names[TASKS_MAX];
	struct figure *figures[TASKS_MAX];
	size_t n;
};

/* --- tasks with and without data -------------------------------------------------------------- */

static const char task_yaml[] =
		"name: %s\ndescription: A task to measure.\n"
		"metric: {name: accuracy, direction: maximize}\n"
		"grader: {kind: csv, submission: answers.csv, answers: answers.csv,\n"
		"  id: id, target: y, metric: accuracy}\n"
		"starter_code: [starter/]\nbaseline: 'true'\n%s";
static const char data_yaml[] = "name: data\ndescription: Files to measure with.\n"
				"location: datasets/files\nfiles: [{path: '.'}]\n";
static const char answers[] = "id,y\n1,1\n2,0\n";

static int tasks_put(const char *folder, const char *name, const char *text, struct fh_error *err)
{
	auto_free char *path = path_join(folder, name);
	auto_free char *parent = path_dirname(path);
	int r = path_mkdirs(parent, 0755, err);

	return r < 0 ? r : fd_write_file(path, text, strlen(text), 0644, err);
}

static int tasks_put_task(const char *root, const char *id, const char *more, struct fh_error *err)
{
	auto_free char *folder = xasprintf("%s/tasks/%s", root, id);
	auto_free char *yaml = xasprintf(task_yaml, id, more);
	int r = tasks_put(folder, "task.yaml", yaml, err);

	if (r < 0)
		return r;
	r = tasks_put(folder, "answers.csv", answers, err);
	if (r < 0)
		return r;
	return tasks_put(folder, "starter/answers.csv", answers, err);
}

static int tasks_put_data(const char *root, struct fh_error *err)
{
	char bytes[FILE_BYTES] = { 0 };

	for (int i = 0; i < FOLDERS * FILES_EACH; i++) {
		auto_free char *path =
				xasprintf("%s/datasets/files/%02d/%d", root, i / FILES_EACH, i);
		auto_free char *folder = path_dirname(path);
		auto_close int fd = -1;
		int r = i % FILES_EACH ? bench_go_on(err) : path_mkdirs(folder, 0755, err);

		if (r < 0)
			return r;
		snprintf(bytes, sizeof(bytes), "%d", i);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		r = fd < 0 ? -errno : fd_write_full(fd, bytes, sizeof(bytes));
		if (r < 0)
			return error_set(err, -r, "write '%s'", path);
	}
	return tasks_put(root, "datasets/data.yaml", data_yaml, err);
}

static void tasks_remove(const char *root)
{
	auto_walk FTS *walk = walk_open(root, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (walk && (entry = fts_read(walk)))
		if (entry->fts_info != FTS_D)
			remove(entry->fts_accpath);
}

/* --- resets ----------------------------------------------------------------------------------- */

static void entrants_add(struct bench *b, struct entrants *e, const char *name)
{
	struct figure *f;

	if (e->n == TASKS_MAX)
		return;
	f = bench_figure(b, "us", "reset:%s", name);
	if (e->n) {
		f->against = e->figures[0];
		f->most_ratio = TASK_MOST;
	}
	e->figures[e->n] = f;
	e->names[e->n++] = xstrdup(name);
}

/* Adds a task if this machine has its baseline. Otherwise opening it could take minutes. */
static void entrants_add_played(struct bench *b, struct entrants *e, const char *name)
{
	struct fh_tasks *found;

	if (fh_tasks_describe(&e->options, &FH_ENV_OPTIONS(.task = name), &found, NULL) < 0)
		return;
	if (fh_tasks_at(found, 0)->baseline)
		entrants_add(b, e, name);
	fh_tasks_free(found);
}

static int entrants_find(struct bench *b, struct entrants *e, struct fh_error *err)
{
	const struct fh_task_info *task;
	struct fh_tasks *tasks;
	int r = fh_tasks_list(&e->options, &tasks, err);

	if (r < 0)
		return r;
	entrants_add(b, e, REFERENCE);
	entrants_add(b, e, SMALL);
	entrants_add(b, e, LARGE);
	for (size_t i = 0; (task = fh_tasks_at(tasks, i)); i++)
		if (!task->problem && strcmp(task->id, REFERENCE) != 0 &&
				!str_starts(task->id, "bench-"))
			entrants_add_played(b, e, task->id);
	fh_tasks_free(tasks);
	return 0;
}

static int entrants_live(struct entrants *e, bool counts, struct fh_error *err)
{
	for (size_t i = 0; i < e->n; i++) {
		struct life life;
		int r = bench_go_on(err);

		if (r < 0)
			return r;
		r = bench_live(e->gym, e->names[i], &life, err);
		if (r < 0)
			return r;
		if (counts)
			samples_add(&e->figures[i]->ours, life.answered);
	}
	return 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

static int entrants_fill(struct entrants *e, const char *task, struct figure *f,
		struct fh_env *envs[IDLE], struct fh_error *err)
{
	double kernel_bytes;

	proc_settle();
	kernel_bytes = proc_kernel_bytes();
	for (size_t i = 0; i < IDLE; i++) {
		int r = bench_start(e->gym, task, &envs[i], err);

		if (r < 0)
			return r;
	}
	proc_settle();
	bench_memory(kernel_bytes, IDLE, &f->ours);
	return 0;
}

static int entrants_idle(
		struct entrants *e, const char *task, struct figure *f, struct fh_error *err)
{
	struct fh_env *envs[IDLE] = { NULL };
	int r = entrants_fill(e, task, f, envs, err);

	for (size_t i = 0; i < IDLE; i++)
		fh_env_close(envs[i]);
	return r;
}

/* --- the suite -------------------------------------------------------------------------------- */

static int entrants_measure(struct bench *b, struct entrants *e, struct fh_error *err)
{
	struct figure *small, *large;
	int r = fh_gym_open(&e->options, &e->gym, err);

	if (r < 0)
		return r;
	r = entrants_find(b, e, err);
	if (r < 0)
		return r;
	small = bench_figure(b, "bytes", "memory:%s", SMALL);
	large = bench_figure(b, "bytes", "memory:%s", LARGE);
	large->against = small;
	large->most_ratio = TASK_MOST;
	r = entrants_live(e, false, err);
	if (r < 0)
		return r;
	for (int i = 0; i < bench_batch(b); i++) {
		r = entrants_live(e, true, err);
		if (r < 0)
			return r;
	}
	r = entrants_idle(e, SMALL, small, err);
	if (r < 0)
		return r;
	return entrants_idle(e, LARGE, large, err);
}

/* Makes a folder of tasks in `root`, and measures them. */
static int tasks_measure(
		const char *root, struct bench *b, struct entrants *e, struct fh_error *err)
{
	int r = tasks_put_task(root, SMALL, "", err);

	if (r < 0)
		return r;
	r = tasks_put_task(root, LARGE, "dataset_configs: [data]\n", err);
	if (r < 0)
		return r;
	r = tasks_put_data(root, err);
	if (r < 0)
		return r;
	return entrants_measure(b, e, err);
}

int suite_tasks(struct bench *b, struct fh_error *err)
{
	const char *tmp = getenv("TMPDIR");
	auto_free char *root = xasprintf("%s/fumehood-bench-XXXXXX", tmp ? tmp : "/tmp");
	auto_free char *tasks_dir = NULL;
	struct entrants e = { .n = 0 };
	int r;

	if (!mkdtemp(root))
		return error_set(err, errno, "make folder '%s'", root);
	tasks_dir = path_join(root, "tasks");
	e.options = FH_GYM_OPTIONS(.tasks_dir = tasks_dir);
	r = tasks_measure(root, b, &e, err);
	for (size_t i = 0; i < e.n; i++)
		free(e.names[i]);
	fh_gym_close(e.gym);
	tasks_remove(root);
	return r;
}
