/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TASKS_H
#define RUN_TASKS_H

#include "run/options.h"
#include "task/find.h"

/* The tasks of a run: names from --task, or a file from --task_config_path. */

/* If *root is NULL, sets it to the MLGym checkout in which the file of --task_config_path lies. The
 * path lives in the arena. */
int run_tasks_root(const struct run_options *o, struct arena *arena, const char **root,
		struct fh_error *err);

/* Lists the names of the run's tasks. *out_all is true for `--task all`: tasks that can't be
 * played are then left out with a warning. */
int run_tasks_find(const struct run_options *o, const struct task_places *places,
		struct arena *arena, struct texts *out, bool *out_all, struct fh_error *err);

#endif
