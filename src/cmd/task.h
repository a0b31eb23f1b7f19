/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_TASK_H
#define CMD_TASK_H

#include "cli/cmd.h"
#include "cmd/episode_options.h"
#include "run/mlgym_root.h"
#include "task/check.h"
#include "task/task.h"

/* What the commands of `fumehood task` have in common. */
struct task_options {
	const char *tasks_dir, *mlgym_root;
};

/* A row of their tables, whose structs begin with a struct task_options. */
#define TASKS_DIR_OPTION                                                                           \
	{ "tasks-dir", 0, OPTION_TEXT, offsetof(struct task_options, tasks_dir), "DIR",            \
		"a folder with more tasks, looked up first" },                                     \
			MLGYM_ROOT_OPTION(offsetof(struct task_options, mlgym_root))

/* -EINVAL: --mlgym-root names no checkout. */
static inline int task_options_places(
		const struct command_context *ctx, struct task_places *out, struct fh_error *err)
{
	const struct task_options *o = ctx->options;

	*out = (struct task_places){ .tasks_dir = o->tasks_dir };
	return mlgym_root(ctx->arena, o->mlgym_root, &cmd_warner, &out->mlgym_root, err);
}

extern const struct command command_task_list, command_task_show, command_task_check,
		command_task_new;

/* How a task is tried: with a Python environment of the user's, "ENV" or "ENV:rw"; NULL: this machine's Python. */
struct task_trial {
	const struct task_places *places;
	const char *spec, *python;
};

/* Adds to the check which modules a task of MLGym's imports, and that Python lacks. Nothing of the task is run. */
void task_try_imports(const struct task_trial *trial, struct task_check *check);

/*
 * Plays the task's baseline and its known good solution. CMD_FAILED when one of them can't be scored, or the
 * solution is no better than the baseline, CMD_USAGE when the task's data is missing. Added to the object `played`: "baseline" and "solution", what
 * each scored by metric; "published", the scores that the task itself tells, and "compared", how the
 * baseline's differ; "note" and "problem", a sentence, if there is one.
 */
int task_try(const struct task_trial *trial, json_t *played);

#endif
