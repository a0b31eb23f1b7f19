/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task.h"

#include "base/json.h"
#include "base/path.h"
#include "base/scope.h"
#include "task/config.h"
#include "task/skeleton.h"

#include <stdio.h>

/* fumehood task new: makes a task from a template. */

struct new_options {
	struct task_options task;
	int grader; /* kind of the task's grader: enum grader_kind */
};

static void task_new_print_next(const char *path)
{
	printf("Wrote %s. It can be played as it is; change it to be yours (docs/tasks.md), and see\n"
	       "whether it holds together:\n\n"
	       "  fumehood task check %s\n"
	       "  fumehood task check --run %s\n"
	       "  fumehood run --task %s\n",
			path, path, path, path);
}

static void task_new_print_json(const char *path)
{
	auto_json json_t *out = json_object();

	json_object_set_new(out, "folder", json_text(path));
	cmd_print_json(out);
}

static int task_new_main(struct command_context *ctx)
{
	const struct new_options *o = ctx->options;
	const char *dir = o->task.tasks_dir ? o->task.tasks_dir : ".";
	auto_free char *path = path_join(dir, ctx->args[0]);
	struct fh_error err = FH_ERROR_INIT;

	if (task_skeleton(dir, ctx->args[0], (enum grader_kind)o->grader, &err) < 0)
		return cmd_refuse_subject(ctx, "folder", path, &err);
	if (ctx->json)
		task_new_print_json(path);
	else
		task_new_print_next(path);
	return CMD_OK;
}

/* Kinds of tasks that a template makes, by enum grader_kind. */
static const char *const kinds[] = { OWN_GRADER_KINDS, NULL };

static const struct cmd_option options[] = {
	{ "grader", 'g', OPTION_CHOICE, offsetof(struct new_options, grader), NULL,
			"kind of grader (docs/graders.md)", .preset = "csv", .choices = kinds },
	{ "tasks-dir", 0, OPTION_PATH, offsetof(struct new_options, task.tasks_dir), "DIR",
			"folder to make it in (default: the current one)" },
	{},
};

const struct command command_task_new = {
	.name = "new",
	.summary = "make a new task from a template",
	.arguments = "T",
	.min_args = 1,
	.max_args = 1,
	.options = options,
	.options_size = sizeof(struct new_options),
	.examples = "fumehood task new --grader duel rockPaperScissors",
	.run = task_new_main,
};
