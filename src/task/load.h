/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_LOAD_H
#define TASK_LOAD_H

#include "task/config.h"
#include "task/files.h"

/*
 * A task while it is loaded. Each task_load_...() fills its members of `task` from `config`. Errors
 * name the place of a key, which task_at() finds in `root`.
 */
struct task_loading {
	const struct task_places *places; /* may be NULL */
	struct task *task;
	struct task_config config;
	const struct node *root; /* the file, with the variant's keys over it once that is known */
	struct task_folder folder;
	bool mlgym; /* the task is of an MLGym checkout: task/mlgym.h */
	struct fh_error *err;
};

/* Returns the key at a path such as "grader.answers", or the deepest above it that is there. */
const struct node *task_at(const struct task_loading *l, const char *path);

/* Call them in this order: paths may name data sets, and binds must not show hidden files. */
int task_load_datasets(struct task_loading *l);
int task_load_files(struct task_loading *l); /* starter, hidden, solution, demo */
int task_load_grader(struct task_loading *l);
int task_load_baseline(struct task_loading *l);
int task_load_binds(struct task_loading *l);

#endif
