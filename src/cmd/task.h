/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_TASK_H
#define CMD_TASK_H

#include "cli/cmd.h"
#include "cmd/episode_options.h"
#include "run/mlgym_root.h"
#include "task/check.h"
#include "task/find.h"
#include "task/task.h"

#include <fumehood/env.h>

/* Options and functions that the commands of `fumehood task` share. */

struct task_options {
	const char *tasks_dir, *mlgym_root;
};

/* Rows of a command's option table. The command's struct begins with a struct task_options. */
#define TASKS_DIR_OPTION                                                                           \
	{ "tasks-dir", 0, OPTION_PATH, offsetof(struct task_options, tasks_dir), "DIR",            \
		"a folder with more tasks, looked up first" },                                     \
			MLGYM_ROOT_OPTION(offsetof(struct task_options, mlgym_root), "")

/* Sets the places to look for tasks in, from the options. -EINVAL: --mlgym-root names no MLGym
 * checkout. */
static inline int task_options_places(
		const struct command_context *ctx, struct task_places *out, struct fh_error *err)
{
	const struct task_options *o = ctx->options;

	*out = (struct task_places){ .tasks_dir = o->tasks_dir };
	return mlgym_root(ctx->arena, o->mlgym_root, &cmd_warner, &out->mlgym_root, err);
}

/* Sets the gym's options that say where to look for tasks. -EINVAL: --mlgym-root names no MLGym
 * checkout. */
static inline int task_options_gym(
		const struct command_context *ctx, struct fh_gym_options *out, struct fh_error *err)
{
	struct task_places places;
	int r = task_options_places(ctx, &places, err);

	if (r < 0)
		return r;
	*out = FH_GYM_OPTIONS(.tasks_dir = places.tasks_dir, .mlgym_root = places.mlgym_root);
	return 0;
}

extern const struct command command_task_list, command_task_show, command_task_check,
		command_task_new;

#endif
