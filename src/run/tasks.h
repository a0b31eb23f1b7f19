/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TASKS_H
#define RUN_TASKS_H

#include "run/options.h"
#include "task/find.h"

/* The tasks of a run, by --task or by --task_config_path, which is a file. */

/* Sets *root, if it is NULL, to the checkout of MLGym that --task_config_path lies in; in the
 * arena. */
int run_tasks_root(const struct run_options *o, struct arena *arena, const char **root,
		struct fh_error *err);

/* Finds the names of the tasks. *out_all: --task is `all`, which leaves out tasks that can't be
 * played, with a warning. */
int run_tasks_find(const struct run_options *o, const struct task_places *places,
		struct arena *arena, struct texts *out, bool *out_all, struct fh_error *err);

#endif
