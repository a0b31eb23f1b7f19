/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "input.h"
#include "task/dataset.h"
#include "task/load.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Fuzzes the loading of tasks. Takes the input as a task.yaml, or as a data set's file if the first
 * byte is odd. If its second bit is set, the file belongs to a checkout of MLGym. All other files
 * exist. The task is refused or loaded with each variant. Then its files are beneath that folder,
 * and no bind shows a hidden file.
 */

static const char task_yaml[] = "name: t\ndescription: '{dataset_docs}'\n"
				"metric: {name: a, direction: maximize}\n"
				"grader: {kind: csv, submission: s.csv, answers: 'd:answers.csv',\n"
				"  id: id, target: y, metric: accuracy}\n"
				"dataset_configs: [d]\nbaseline: 'true'\n";
static const char data_yaml[] = "name: d\ndescription: d\nlocation: data\n"
				"files: [{path: train.csv}, {path: answers.csv, hidden: true}]\n";

static const char mlgym_task[] = "id: t\nname: t\ndescription: '{dataset_docs}'\n"
				 "dataset_configs: [datasets/d.yaml]\nstarter_code: [code]\n"
				 "baseline_scores: [{a: 1}]\nevaluation_paths: [code/e.py]\n";
static const char mlgym_data[] = "name: d\ndescription: d\nis_local: true\ndata_path: data\n";

static const char *const others[] = {
	"code/e.py",
	"code/strategy.py",
	"tasks/t/starter/a.py",
	"tasks/t/starter/b/c.py",
	"tasks/t/grader/judge.py",
	"tasks/t/solution/a.py",
	"tasks/t/demo.jsonl",
	"tasks/t/answers.csv",
	"tasks/t/linked/a.py",
	"data/train.csv",
	"data/answers.csv",
	"data/make.py",
};

static const struct {
	const char *path, *to;
} links[] = {
	{ "tasks/t/out", "/" },
	{ "tasks/t/linked/up", "../.." },
	{ "data/etc", "/etc" },
	{ "tasks/t/loop", "loop" },
};

static char root[] = "fuzz-task-XXXXXX", *real_root;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	__builtin_trap();
}

static void put(const char *path, const void *data, size_t n)
{
	auto_free char *whole = path_join(real_root, path);
	auto_free char *folder = path_dirname(whole);

	check(path_mkdirs(folder, 0755, NULL) == 0, folder);
	check(fd_write_file(whole, data, n, 0644, NULL) == 0, whole);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	return remove(path);
}

static void remove_root(void)
{
	nftw(real_root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(real_root);
}

static void put_data(void)
{
	auto_free char *tasks = path_join(real_root, "tasks");
	auto_free char *store = dataset_store("d", tasks);
	auto_free char *path = xasprintf("state/data/%s/train.csv", store);

	put(path, "x\n", 2);
}

static void make_root(void)
{
	const char *tmp = getenv("TMPDIR");
	auto_free char *path = path_join(tmp ? tmp : "/tmp", root);

	real_root = mkdtemp(path) ? realpath(path, NULL) : NULL;
	check(real_root != NULL, path);
	atexit(remove_root);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		put(others[i], "x\n", 2);
	put_data();
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		auto_free char *link = path_join(real_root, links[i].path);

		check(symlink(links[i].to, link) == 0, link);
	}
}

static bool is_within(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return str_starts(path, folder) && (path[n] == '/' || path[n] == '\0');
}

static void check_source(const char *path)
{
	check(!path || is_within(path, real_root) || is_within(path, places_get()->share_dir),
			path);
}

static void check_files(const struct task_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check_source(files[i].source);
		check(path_stays_inside(files[i].target), files[i].target);
	}
}

static void check_hidden(const struct task *task, const char *hidden)
{
	for (size_t i = 0; hidden && i < task->n_binds; i++) {
		const char *source = task->binds[i].source;

		check(!is_within(hidden, source) && !is_within(source, hidden) &&
						!str_eq(source, "/"),
				source);
	}
}

static void check_task(const struct task *task)
{
	char hex[SHA256_HEX_BYTES];

	check(task->metric && task->name && task->description, "members");
	check(task->max_steps > 0 && task->training_timeout_ms > 0 && task->output_bytes > 0,
			"numbers");
	check(path_stays_inside(task->grader.submission) ||
					(task->mlgym && !*task->grader.submission),
			task->grader.submission);
	check_files(task->grader.evaluators, task->grader.n_evaluators);
	check_files(task->starter, task->n_starter);
	check_files(task->data, task->n_data);
	check_files(task->hidden, task->n_hidden);
	check_files(task->solution, task->n_solution);
	check_source(task->grader.program);
	check_source(task->grader.player);
	check_source(task->grader.answers);
	check_source(task->demo);
	check_hidden(task, task->grader.answers);
	if (!task->mlgym) /* agents may read MLGym's evaluators */
		check_hidden(task, task->grader.program);
	for (size_t i = 0; i < task->n_hidden; i++)
		check_hidden(task, task->hidden[i].source);
	task_hash(task, hex, NULL);
}

static void load(const struct task_places *places, const char *variant)
{
	struct fh_error err = FH_ERROR_INIT;
	struct task *task = NULL;

	if (task_load(places, "t", variant, &task, &err) < 0)
		check(!task && err.code < 0 && *err.message, "refused without a word");
	else
		check_task(task);
	task_free(task);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct input in = { data, n };
	uint8_t choice = input_u8(&in);
	bool of_data = choice & 1;
	auto_free char *tasks = NULL;
	auto_free char *state = NULL;
	struct task_places places;
	char **variants;

	if (!real_root)
		make_root();
	tasks = path_join(real_root, "tasks");
	state = path_join(real_root, "state");
	places = (struct task_places){ .tasks_dir = tasks, .state_dir = state };
	if (choice & 2) {
		places.mlgym_root = real_root;
		put("configs/tasks/t.yaml", of_data ? (const void *)mlgym_task : in.data,
				of_data ? strlen(mlgym_task) : in.n);
		put("configs/datasets/d.yaml", of_data ? in.data : (const void *)mlgym_data,
				of_data ? in.n : strlen(mlgym_data));
		load(&places, NULL);
		return 0;
	}
	put("tasks/t/task.yaml", of_data ? (const void *)task_yaml : in.data,
			of_data ? strlen(task_yaml) : in.n);
	put("datasets/d.yaml", of_data ? in.data : (const void *)data_yaml,
			of_data ? in.n : strlen(data_yaml));
	load(&places, NULL);
	if (task_variants(&places, "t", &variants, NULL) < 0)
		return 0;
	for (size_t i = 0; variants[i]; i++)
		load(&places, variants[i]);
	xfree_strings(variants);
	return 0;
}
