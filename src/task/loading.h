/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_LOADING_H
#define TASK_LOADING_H

#include "task/config.h"
#include "task/files.h"
#include "task/find.h"

/*
 * A task while it is loaded. Each task_load_...() fills a part of `task` from `config`. Error
 * messages give the line of a key, which task_at() finds in `root`.
 */
struct task_loading {
	const struct task_places *places; /* folders to search; may be NULL */
	struct task *task;
	struct task_config config;
	/* the YAML of the task; later with the variant's keys merged over it */
	const struct node *root;
	struct task_folder folder;
	bool mlgym; /* the task is from an MLGym checkout: task/mlgym.h */
	struct fh_error *err;
};

/* Returns the node at a path such as "grader.answers". If a key is missing, returns the deepest
 * node that exists on the path. */
const struct node *task_at(const struct task_loading *l, const char *path);

/* Adds a warning to the task, unless an equal one is there. `text` must live as long as the
 * task. */
void task_warn(struct task_loading *l, const char *text);

/* Adds warnings of schema_read(). */
void task_warn_all(struct task_loading *l, const struct warnings *warnings);

#endif
