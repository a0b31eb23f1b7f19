/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_FILES_H
#define TASK_FILES_H

#include "config/schema.h"
#include "task/dataset.h"
#include "task/task.h"

/*
 * The paths of a task.yaml: PATH is of the task's folder, DATASET:PATH of a data set, and neither
 * may lead out of it, by "..", by a symbolic link or otherwise. In lists "folder/" is what the
 * folder holds.
 */
#define TASK_FILES_MAX 10000

struct task_folder {
	struct arena *arena;
	const char *dir; /* absolute, without symbolic links */
	const struct dataset *datasets;
	size_t n_datasets;
};

/* One path, absolute. `at` is complained about. */
int task_path(const struct task_folder *folder, const struct node *at, const char *path,
		const char **out, struct fh_error *err);

struct task_files {
	struct task_file *items;
	size_t n;
};

/* Appends what a list of paths stands for; `at` is the list in the file. Each file's target is its
 * own name, and no two may have the same. */
int task_files_add(const struct task_folder *folder, const struct node *at,
		const struct texts *paths, struct task_files *files, struct fh_error *err);

/* Appends one path that task_path() gave. */
int task_files_add_one(const struct task_folder *folder, const struct node *at, const char *source,
		struct task_files *files, struct fh_error *err);

#endif
