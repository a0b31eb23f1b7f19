/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_FIND_H
#define DATA_FIND_H

#include "base/arena.h"
#include "task/dataset.h"

/* Data sets by name, loaded even if files are missing. All live in the arena. */
struct data_sets {
	struct dataset *items;
	size_t n;
};

/*
 * Finds the data sets of `spec`. `spec` is a data set's id, a task's variant T:V, or a task T with
 * all of its variants. `tasks_dir` is searched before our own tasks; NULL: none. -ENOENT: there is
 * no such data set or task.
 */
int data_find(struct arena *a, const char *tasks_dir, const char *spec, struct data_sets *out,
		struct fh_error *err);

/* Lists the ids of all data sets beside the folders of tasks, sorted. Free *out with
 * xfree_strings(). */
int data_list(const char *tasks_dir, char ***out, struct fh_error *err);

#endif
