/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_FILES_H
#define TASK_FILES_H

#include "config/schema.h"
#include "task/dataset.h"
#include "task/task.h"

/*
 * The paths of a task.yaml. PATH lies in the task's folder, DATASET:PATH in a data set. Neither may
 * lead out of it, by ".." or by a symbolic link. In a list, "folder/" stands for all that the
 * folder holds.
 */
#define TASK_FILES_MAX 10000

struct task_folder {
	struct arena *arena;
	const char *dir; /* absolute, without symbolic links */
	const struct dataset *datasets;
	size_t n_datasets;
};

/* Makes one path absolute. Errors name `at` as the place. */
int task_path(const struct task_folder *folder, const struct node *at, const char *path,
		const char **out, struct fh_error *err);

struct task_files {
	struct task_file *items;
	size_t n;
};

/* Appends the files of a list of paths; `at` is the list in the YAML. A file's target is its own
 * name, and no two may be equal. */
int task_files_add(const struct task_folder *folder, const struct node *at,
		const struct texts *paths, struct task_files *files, struct fh_error *err);

/* Appends one path from task_path(). */
int task_files_add_one(const struct task_folder *folder, const struct node *at, const char *source,
		struct task_files *files, struct fh_error *err);

#endif
