/* SPDX-License-Identifier: Apache-2.0 */
#include "task/load_parts.h"

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
		.data_seed = l->task->data_seed,
		.missing_ok = l->missing_ok,
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

/* Appends the files of a list in task.yaml; `key` is the name of the list. */
static int load_paths(struct task_loading *l, const char *key, const struct texts *paths,
		struct task_files *files)
{
	return task_files_add(&l->folder, task_at(l, key), paths, files, l->err);
}

static int load_starter(struct task_loading *l)
{
	const struct node *at = task_at(l, "sample_submission");
	const char *sample = l->config.sample_submission, *source;
	struct task_files files = { 0 };
	int r = load_paths(l, "starter_code", &l->config.starter_code, &files);

	if (r < 0)
		return r;
	if (sample) {
		r = task_path(&l->folder, at, sample, &source, l->err);
		if (r < 0)
			return r;
		r = task_files_add_one(&l->folder, at, source, &files, l->err);
		if (r < 0)
			return r;
	}
	l->task->starter = files.items;
	l->task->n_starter = files.n;
	return 0;
}

/* Stores the path of the agent's memory file (its notes). The file need not exist yet. Each write
 * to it checks the path again. */
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
	const struct task_config *c = &l->config;
	struct task_files hidden = { 0 }, solution = { 0 }, baseline = { 0 };
	int r = load_starter(l);

	if (r < 0)
		return r;
	r = load_paths(l, "hidden", &c->hidden, &hidden);
	if (r < 0)
		return r;
	r = load_paths(l, "secret_files", &c->secret_files, &hidden);
	if (r < 0)
		return r;
	l->task->hidden = hidden.items;
	l->task->n_hidden = hidden.n;
	l->task->solution_command = c->solution.command;
	r = load_paths(l, "solution.files", &c->solution.files, &solution);
	if (r < 0)
		return r;
	l->task->solution = solution.items;
	l->task->n_solution = solution.n;
	r = load_paths(l, "baseline_files", &c->baseline_files, &baseline);
	if (r < 0)
		return r;
	l->task->baseline_files = baseline.items;
	l->task->n_baseline_files = baseline.n;
	r = load_memory(l);
	if (r < 0)
		return r;
	return c->demo ? task_path(&l->folder, task_at(l, "demo"), c->demo, &l->task->demo, l->err)
		       : 0;
}
