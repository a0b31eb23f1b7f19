/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_FIND_H
#define TASK_FIND_H

#include "task/task.h"

/* Names of tasks, variants and data sets: letters, digits, '_', '-', '.'; at most 64; no dot first. */
bool task_name_is_valid(const char *name);

/* A task by its name. Heap strings. */
struct task_found {
	char *dir;  /* its folder, without symbolic links; of an MLGym task, the checkout */
	char *file; /* its YAML: names it in `spec`s too if it is MLGym's, else `dir` does */
	bool mlgym;
	char *variant; /* NULL: none was named */
};

void task_found_release(struct task_found *found);

/* `spec` as of task_load(). -EINVAL for what can't be a name, -ENOENT names the closest, or all. */
int task_find(const struct task_places *places, const char *spec, struct task_found *out,
		struct fh_error *err);

#endif
