/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_FIND_H
#define TASK_FIND_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Name of the variant that stands for the task without a variant. */
#define TASK_FULL "full"

/* Returns the name of a task's variant for users: TASK_FULL for "", the task without a variant. */
static inline const char *task_variant_name(const char *variant)
{
	return *variant ? variant : TASK_FULL;
}

struct task_places {
	/* folder of tasks that is searched before the installed tasks; NULL: none */
	const char *tasks_dir;
	const char *mlgym_root; /* MLGym checkout whose tasks are searched first; NULL: none */
	/* State folder, in which data/<dataset>/ has generated and fetched files. NULL:
	 * $FUMEHOOD_STATE, or else the user's default. */
	const char *state_dir;
	/* number that selects generated data: another number gives other data (task.h) */
	uint64_t data_seed;
};

/* Returns true if `name` may name a task, a variant or a data set. Names have at most 64 letters,
 * digits, '_', '-' and '.', and don't begin with a dot. */
bool task_name_is_valid(const char *name);

/* A task that task_find() found by its name. All strings are on the heap. */
struct task_found {
	/* real path of the task's folder; for a task of MLGym, real path of the checkout */
	char *dir;
	char *file; /* path of the task's YAML file */
	bool mlgym;
	char *variant; /* variant that the searched name includes; NULL: it names none */
	/*
	 * Warning that the MLGym checkout lacks the task, so that Fumehood's own is used; NULL:
	 * none.
	 */
	char *warning;
};

void task_found_release(struct task_found *found);

/* Finds a task by `spec`, which task_load() describes. If `spec` is the name of a task's folder
 * and another task's alias, the folder counts. -EINVAL: `spec` can't be a name. -ENOENT: there
 * is no such task; the message names the closest task, or all. */
int task_find(const struct task_places *places, const char *spec, struct task_found *out,
		struct fh_error *err);

/* Lists the names of all tasks, sorted, without aliases. If there is an MLGym checkout, lists only
 * the checkout's tasks. Free *out with xfree_strings(). */
int task_list(const struct task_places *places, char ***out, struct fh_error *err);

#endif
