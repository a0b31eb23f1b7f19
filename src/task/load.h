/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_LOAD_H
#define TASK_LOAD_H

#include "task/find.h"
#include "task/task.h"

/*
 * Loads a task. `spec` is "T" or "T:VARIANT". T is a name, an alias, or the path of the task's
 * folder, as in "./T". If `variant` is not NULL, it replaces the variant in `spec`. If neither
 * names a variant, the default variant is loaded. "full" is the task without a variant. places may
 * be NULL.
 *
 * -EINVAL: the file is bad; the message names line and key. -ENOENT: there is no such task or
 * variant; the message names the closest, or all. -ENODATA: data is missing; the message says how
 * to get the data.
 */
int task_load(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err);

/*
 * Loads a task to describe it, although files of its data sets are missing. Paths of such files
 * lead to nothing, and an MLGym task has no such files. dataset_tell_missing() tells what is
 * missing. Other errors are those of task_load().
 */
int task_load_without_data(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err);

/* Reads only task.yaml, for lists of tasks. Paths are NULL. {dataset_docs} and
 * {training_timeout} stay in the description. */
int task_read(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err);

/* Lists the names of a task's variants, the default first and "full" among them, in an array for
 * xfree_strings(). */
int task_variants(const struct task_places *places, const char *spec, char ***out,
		struct fh_error *err);

#endif
