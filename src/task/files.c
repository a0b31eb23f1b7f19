/* SPDX-License-Identifier: Apache-2.0 */
#include "task/files.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "base/walk.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* --- paths ------------------------------------------------------------------------------------ */

static int files_dataset_path(const struct task_folder *folder, const struct node *at,
		const char *path, const char **out, struct fh_error *err)
{
	const char *colon = strchr(path, ':');
	const char *id = arena_strndup(folder->arena, path, (size_t)(colon - path));

	for (size_t i = 0; i < folder->n_datasets; i++) {
		const struct dataset *dataset = &folder->datasets[i];

		if (!str_eq(dataset->id, id))
			continue;
		for (size_t j = 0; j < dataset->n_files; j++) {
			if (str_eq(dataset->files[j].path, colon + 1)) {
				*out = dataset->files[j].source;
				return 0;
			}
		}
		return node_complain(at, err, "data set '%s' has no file '%s'", id, colon + 1);
	}
	return node_complain(at, err, "'%s' is not one of dataset_configs", id);
}

static int files_check_entry(FTS *fts, FTSENT *entry, const char *dir, struct fh_error *err)
{
	auto_free char *real = NULL;
	size_t n = strlen(dir);

	if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
		return error_set(err, entry->fts_errno, "read '%s'", entry->fts_path);
	if (entry->fts_info == FTS_SL) {
		real = realpath(entry->fts_accpath, NULL);
		if (!real || !str_starts(real, dir) || (real[n] != '/' && real[n] != '\0'))
			return error_say_kind(err, FH_ERROR_INPUT, EPERM,
					"'%s' is a link that leads out of the task",
					entry->fts_path);
	}
	if (entry->fts_info == FTS_DEFAULT)
		return error_say(err, EINVAL, "'%s' is neither a file nor a folder",
				entry->fts_path);
	/* Skip __pycache__: Python makes it beside any program that imports modules. */
	if (entry->fts_info == FTS_D && str_eq(entry->fts_name, "__pycache__"))
		fts_set(fts, entry, FTS_SKIP);
	return 0;
}

/* Refuses a folder in which a link leads out of the task's folder `dir`. Also refuses a folder with
 * a device, FIFO or socket. Folders are mounted or copied whole, with their links. */
static int files_check_tree(const char *path, const char *dir, struct fh_error *err)
{
	auto_walk FTS *fts = walk_open(path, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	if (!fts)
		return error_set(err, errno, "read '%s'", path);
	while ((entry = fts_read(fts))) {
		int r = files_check_entry(fts, entry, dir, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Finds a file or folder of the task by its path. Refuses a link that leads out of the task's
 * folder.
 */
static int files_find_inside(const struct task_folder *folder, const char *path, char **out,
		struct fh_error *err)
{
	auto_free char *real = NULL;
	int r = path_beneath(folder->dir, path, &real, err);

	if (r < 0)
		return r;
	r = files_check_tree(real, folder->dir, err);
	if (r < 0)
		return r;
	*out = take_ptr(real);
	return 0;
}

int task_path(const struct task_folder *folder, const struct node *at, const char *path,
		const char **out, struct fh_error *err)
{
	auto_free char *real = NULL;
	struct fh_error why;
	int r;

	if (strchr(path, ':'))
		return files_dataset_path(folder, at, path, out, err);
	r = files_find_inside(folder, path, &real, &why);
	if (r < 0) {
		node_complain(at, err, "%s", why.message);
		return r;
	}
	*out = arena_strdup(folder->arena, real);
	return 0;
}

/* --- lists ------------------------------------------------------------------------------------ */

static int files_append(const struct task_folder *folder, const struct node *at, const char *source,
		const char *target, struct task_files *files, struct fh_error *err)
{
	if (files->n == TASK_FILES_MAX)
		return node_complain(at, err, "more than %d files", TASK_FILES_MAX);
	for (size_t i = 0; i < files->n; i++)
		if (str_eq(files->items[i].target, target))
			return node_complain(at, err, "'%s' comes from both '%s' and '%s'", target,
					files->items[i].source, source);
	files->items = arena_grow(folder->arena, files->items, files->n, sizeof(*files->items));
	files->items[files->n++] = (struct task_file){
		.source = arena_strdup(folder->arena, source),
		.target = arena_strdup(folder->arena, target),
	};
	return 0;
}

static int files_is_entry(const struct dirent *entry)
{
	return !str_eq(entry->d_name, ".") && !str_eq(entry->d_name, "..") &&
			!str_eq(entry->d_name, "__pycache__");
}

static int files_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int files_add_entries(const struct task_folder *folder, const struct node *at,
		const char *dir, struct dirent *const *entries, int n, struct task_files *files,
		struct fh_error *err)
{
	for (int i = 0; i < n; i++) {
		auto_free char *source = path_join(dir, entries[i]->d_name);
		int r = files_append(folder, at, source, entries[i]->d_name, files, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int files_add_folder(const struct task_folder *folder, const struct node *at,
		const char *dir, struct task_files *files, struct fh_error *err)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, files_is_entry, files_by_name);
	int r;

	if (n < 0) {
		r = -errno;
		node_complain(at, err, "list '%s': %s", dir, strerrordesc_np(-r));
		return r;
	}
	r = files_add_entries(folder, at, dir, entries, n, files, err);
	while (n > 0)
		free(entries[--n]);
	free(entries);
	return r;
}

int task_files_add(const struct task_folder *folder, const struct node *at,
		const struct texts *paths, struct task_files *files, struct fh_error *err)
{
	for (size_t i = 0; i < paths->n; i++) {
		const struct node *item = at->items[i];
		auto_free char *name = path_normalise(paths->items[i]);
		const char *colon = strchr(name, ':'); /* DATASET:PATH */
		const char *source = NULL;
		int r = task_path(folder, item, paths->items[i], &source, err);

		if (!source)
			return r;
		if (str_ends(paths->items[i], "/"))
			r = files_add_folder(folder, item, source, files, err);
		else
			r = files_append(folder, item, source,
					path_basename(colon ? colon + 1 : name), files, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int task_files_add_one(const struct task_folder *folder, const struct node *at, const char *source,
		struct task_files *files, struct fh_error *err)
{
	return files_append(folder, at, source, path_basename(source), files, err);
}
