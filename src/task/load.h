/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_LOAD_H
#define TASK_LOAD_H

#include "task/config.h"
#include "task/files.h"

/*
 * A task that is being loaded. Each part fills its members of `task` from `config`; complaints name
 * the place of a key, which task_at() finds in `root`.
 */
struct task_loading {
	const struct task_places *places; /* may be NULL */
	struct task *task;
	struct task_config config;
	const struct node *root; /* the file, then with the variant's keys over it */
	struct task_folder folder;
	bool mlgym; /* a file of a checkout of MLGym: task/mlgym.h */
	struct fh_error *err;
};

/* The key at "grader.answers", or the deepest above it that is there. */
const struct node *task_at(const struct task_loading *l, const char *path);

/* In this order: paths may name data sets. */
int task_load_datasets(struct task_loading *l);
int task_load_files(struct task_loading *l); /* starter, hidden, solution, demo */
int task_load_grader(struct task_loading *l);
int task_load_baseline(struct task_loading *l);
int task_load_binds(struct task_loading *l); /* knows all that is hidden */

#endif
