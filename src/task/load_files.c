/* SPDX-License-Identifier: Apache-2.0 */
#include "task/load.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>

static int load_data(struct task_loading *l)
{
	struct task *task = l->task;
	struct task_file *files;
	size_t room = 0, n = 0;

	for (size_t i = 0; i < task->n_datasets; i++)
		room += task->datasets[i].n_files;
	files = arena_array(&task->arena, room, sizeof(*files));
	for (size_t i = 0; i < task->n_datasets; i++) {
		for (size_t j = 0; j < task->datasets[i].n_files; j++) {
			const struct dataset_file *file = &task->datasets[i].files[j];

			if (file->hidden)
				continue;
			for (size_t k = 0; k < n; k++)
				if (str_eq(files[k].target, file->target))
					return node_complain(task_at(l, "dataset_configs"), l->err,
							"two data sets have a file '%s'",
							file->target);
			files[n++] = (struct task_file){ file->source, file->target };
		}
	}
	task->data = files;
	task->n_data = n;
	return 0;
}

int task_load_datasets(struct task_loading *l)
{
	const struct texts *names = &l->config.dataset_configs;
	auto_free char *tasks = path_dirname(l->task->dir);
	auto_free char *root = path_dirname(tasks);
	const struct dataset_places places = {
		.task_dir = l->task->dir,
		.root = root,
		.state_dir = l->places ? l->places->state_dir : NULL,
	};
	struct dataset *datasets = arena_array(&l->task->arena, names->n, sizeof(*datasets));

	for (size_t i = 0; i < names->n; i++) {
		struct fh_error why;
		int r = dataset_load(&l->task->arena, &places, names->items[i], &datasets[i], &why);

		if (r == -ENODATA)
			return error_say(l->err, ENODATA, "%s", why.message);
		if (r < 0) {
			node_complain(task_at(l, "dataset_configs")->items[i], l->err, "%s",
					why.message);
			return r;
		}
	}
	l->task->datasets = l->folder.datasets = datasets;
	l->task->n_datasets = l->folder.n_datasets = names->n;
	return load_data(l);
}

/* Appends the paths of a list under `key`. */
static int load_paths(struct task_loading *l, const char *key, const struct texts *paths,
		struct task_files *files)
{
	return task_files_add(&l->folder, task_at(l, key), paths, files, l->err);
}

static int load_starter(struct task_loading *l)
{
	const char *sample = l->config.sample_submission;
	struct task_files files = { 0 };
	const char *source;
	int r = load_paths(l, "starter_code", &l->config.starter_code, &files);

	if (r >= 0 && sample)
		r = task_path(&l->folder, task_at(l, "sample_submission"), sample, &source, l->err);
	if (r >= 0 && sample)
		r = task_files_add_one(&l->folder, task_at(l, "sample_submission"), source, &files,
				l->err);
	l->task->starter = files.items;
	l->task->n_starter = files.n;
	return r;
}

static int load_hidden(struct task_loading *l)
{
	struct task_files files = { 0 };
	int r = load_paths(l, "hidden", &l->config.hidden, &files);

	if (r >= 0)
		r = load_paths(l, "secret_files", &l->config.secret_files, &files);
	l->task->hidden = files.items;
	l->task->n_hidden = files.n;
	return r;
}

static int load_solution(struct task_loading *l)
{
	const struct solution_config *solution = &l->config.solution;
	struct task_files files = { 0 };
	int r;

	l->task->solution_command = solution->command;
	if (!solution->files.n)
		return 0;
	r = load_paths(l, "solution.files", &solution->files, &files);
	l->task->solution = files.items;
	l->task->n_solution = files.n;
	return r;
}

static int load_demo(struct task_loading *l)
{
	if (!l->config.demo)
		return 0;
	return task_path(&l->folder, task_at(l, "demo"), l->config.demo, &l->task->demo, l->err);
}

/* It is written to, and need not be there yet: who does so looks again. */
static int load_memory(struct task_loading *l)
{
	auto_free char *path = NULL, *real = NULL;
	struct fh_error why;
	int r;

	if (!l->config.memory_path)
		return 0;
	path = path_normalise(l->config.memory_path);
	r = path_beneath_new(l->task->dir, path, &real, &why);
	if (r < 0) {
		node_complain(task_at(l, "memory_path"), l->err, "%s", why.message);
		return r;
	}
	l->task->memory = arena_strdup(&l->task->arena, path);
	return 0;
}

int task_load_files(struct task_loading *l)
{
	int r = load_starter(l);

	if (r >= 0)
		r = load_hidden(l);
	if (r >= 0)
		r = load_solution(l);
	if (r >= 0)
		r = load_memory(l);
	return r < 0 ? r : load_demo(l);
}
