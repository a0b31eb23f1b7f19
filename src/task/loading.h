/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_LOADING_H
#define TASK_LOADING_H

#include "task/config.h"
#include "task/files.h"
#include "task/find.h"

/*
 * State while a task is loaded. Each task_load_...() sets a part of `task` from `config`. Error
 * messages name the line of a key: task_at() finds it in `root`.
 */
struct task_loading {
	const struct task_places *places; /* folders to search for tasks; may be NULL */
	struct task *task;
	struct task_config config;
	/* The task's YAML. When a variant is applied, the variant's keys are merged over it. */
	const struct node *root;
	struct task_folder folder;
	bool mlgym; /* the task is from an MLGym checkout: task/mlgym.h */
	/* Load the task although files of its data sets are missing. Paths of such files lead to
	 * nothing. */
	bool missing_ok;
	struct fh_error *err;
};

/* Returns the YAML node at a path of keys like "grader.answers". If a key is missing, returns the
 * last node that exists on the way. */
const struct node *task_at(const struct task_loading *l, const char *path);

/* Adds a warning to the task. If an equal warning is there, adds none. `text` must live as long
 * as the task. */
void task_warn(struct task_loading *l, const char *text);

/* Adds to the task all warnings that schema_read() has given. */
void task_warn_all(struct task_loading *l, const struct warnings *warnings);

#endif
