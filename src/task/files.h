/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_FILES_H
#define TASK_FILES_H

#include "config/schema.h"
#include "task/dataset.h"
#include "task/task.h"

/*
 * Resolves the paths in a task.yaml. PATH is relative to the task's folder; DATASET:PATH is
 * relative to a data set's folder. No path may lead out of its folder by ".." or by a symbolic
 * link. In a list, "folder/" means all files in the folder.
 */

#define TASK_FILES_MAX 10000

struct task_folder {
	struct arena *arena;
	const char *dir; /* absolute path of the task's folder, without symbolic links */
	const struct dataset *datasets;
	size_t n_datasets;
};

/*
 * Makes a path of task.yaml absolute. Error messages name the line of `at`, the path's node in the
 * YAML.
 */
int task_path(const struct task_folder *folder, const struct node *at, const char *path,
		const char **out, struct fh_error *err);

struct task_files {
	struct task_file *items;
	size_t n;
};

/* Appends the files of a list of paths. Error messages name the line of `at`, the list's node in
 * the YAML. Each file gets its name without folders in the workspace. Two files with the same
 * name are an error. */
int task_files_add(const struct task_folder *folder, const struct node *at,
		const struct texts *paths, struct task_files *files, struct fh_error *err);

/* Appends the single file `source` to a list of files. It is a path from task_path(). */
int task_files_add_one(const struct task_folder *folder, const struct node *at, const char *source,
		struct task_files *files, struct fh_error *err);

#endif
