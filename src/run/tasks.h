/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TASKS_H
#define RUN_TASKS_H

#include "run/options.h"
#include "task/find.h"

/* Which tasks a run plays: --task, or --task_config_path, which is a file. */

/* The checkout of MLGym that --task_config_path lies in, where --mlgym-root and its variables name none; in the
 * arena. *root is left alone if the file lies in none. */
int run_tasks_root(const struct run_options *o, struct arena *arena, const char **root,
		struct fh_error *err);

/* The names of the tasks. *out_all: they are those of `--task all`, which leaves out what can't be played and
 * says why. */
int run_tasks_find(const struct run_options *o, const struct task_places *places,
		struct arena *arena, struct texts *out, bool *out_all, struct fh_error *err);

#endif
