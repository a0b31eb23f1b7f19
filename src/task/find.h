/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_FIND_H
#define TASK_FIND_H

#include "task/task.h"

/* Names of tasks, variants and data sets: at most 64 letters, digits, '_', '-' and '.'; no dot
 * first. */
bool task_name_is_valid(const char *name);

/* A task that was found by its name. Heap strings. */
struct task_found {
	char *dir;  /* real path of its folder; for MLGym's tasks, of the checkout */
	char *file; /* path of its YAML */
	bool mlgym;
	char *variant; /* NULL: none was named */
};

void task_found_release(struct task_found *found);

/* `spec` as of task_load(). -EINVAL: it can't be a name. -ENOENT: the message names the closest
 * task, or all. */
int task_find(const struct task_places *places, const char *spec, struct task_found *out,
		struct fh_error *err);

#endif
