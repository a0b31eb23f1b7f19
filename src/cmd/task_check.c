/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task_check.h"

#include "base/scope.h"
#include "cmd/episode_options.h"
#include "run/trial.h"
#include "sandbox/python.h"
#include "task/find.h"

/* fumehood task check: finds mistakes in tasks. */

#define JOBS_MAX 1000
#define SEEDS_MAX 1000

/* Result of the check of one task. */
struct checked_task {
	const char *spec;
	struct task_check check;
	json_t *played; /* result of trial_play(); NULL: not played */
	int status;
};

static json_t *task_check_remarks_json(const struct task_check *check, bool problems)
{
	json_t *list = json_array();

	for (size_t i = 0; i < check->n; i++)
		if (check->remarks[i].problem == problems)
			json_array_append_new(list, json_text(check->remarks[i].text));
	return list;
}

static json_t *task_check_report(const struct checked_task *o)
{
	return json_pack("{s:o, s:b, s:o, s:o, s:O?}", "task", json_text(o->spec), "ok",
			o->status == CMD_OK, "problems", task_check_remarks_json(&o->check, true),
			"notes", task_check_remarks_json(&o->check, false), "played", o->played);
}

/* Checks one task, and plays it with --run. False if there is no such task. */
static bool task_check_check_one(const struct task_places *places, const struct python_env *python,
		const struct check_options *options, struct checked_task *o, struct fh_error *err)
{
	struct trial trial = {
		.places = places, .spec = o->spec, .python = python->spec, .n_seeds = options->seeds
	};
	int r;

	if (task_check(places, o->spec, python->dir, &o->check, err) < 0)
		return false;
	/* without --run only: playing a task with trial_play() checks its imports too */
	if (!options->run)
		trial_check_imports(&trial, &o->check);
	o->status = o->check.refusal.code     ? cmd_status_of(&o->check.refusal)
			: o->check.n_problems ? CMD_FAILED
					      : CMD_OK;
	if (!options->run || o->status != CMD_OK)
		return true;
	o->played = json_object();
	r = trial_play(&trial, o->played, err);
	if (r < 0)
		json_object_set_new(o->played, "problem", json_text(err->message));
	o->status = r < 0 ? cmd_status_of(err) : r ? CMD_OK : CMD_FAILED;
	return true;
}

/* Checks the named tasks in this process, one after the other. */
static int task_check_named(struct command_context *ctx, const struct task_places *places,
		const struct python_env *python)
{
	const struct check_options *options = ctx->options;
	int status = CMD_OK;

	for (size_t i = 0; i < ctx->n_args; i++) {
		struct checked_task o = { .spec = ctx->args[i] };
		auto_json json_t *report = NULL;
		struct fh_error err;

		if (!task_check_check_one(places, python, options, &o, &err)) {
			o.status = cmd_refuse_subject(ctx, "task", o.spec, &err);
			status = o.status > status ? o.status : status;
			continue;
		}
		report = task_check_report(&o);
		if (ctx->json)
			cmd_print_json(report);
		else
			task_check_print_text(report);
		status = o.status > status ? o.status : status;
		task_check_release(&o.check);
		json_decref(o.played);
	}
	return status;
}

static int task_check_misuse(const struct command_context *ctx)
{
	static const char *const with_run[] = { "all", "jobs", "seeds" };
	const struct check_options *o = ctx->options;

	if (o->all && ctx->n_args)
		return cmd_misuse(ctx, "--all checks every task: give it or '%s'", ctx->args[0]);
	if (o->variant && !o->all)
		return cmd_misuse(ctx, "--variant goes with --all");
	if (!o->all && !ctx->n_args)
		return cmd_misuse(ctx, "give a task, or --all");
	for (size_t i = 0; !o->run && i < ARRAY_SIZE(with_run); i++)
		if (cmd_given(ctx, with_run[i]))
			return cmd_misuse(ctx, "--%s goes with --run", with_run[i]);
	return CMD_OK;
}

static int task_check_main(struct command_context *ctx)
{
	const struct check_options *options = ctx->options;
	struct fh_error err = FH_ERROR_INIT;
	struct python_env python = { .spec = NULL };
	struct task_places places;
	int status = task_check_misuse(ctx);

	if (status)
		return status;
	if (task_options_places(ctx, &places, &err) < 0)
		return cmd_refuse(&err);
	if (options->python && python_env_find(ctx->arena, options->python, &python, &err) < 0)
		return cmd_refuse(&err);
	places.data_seed = options->data_seed;
	if (options->all || cmd_given(ctx, "jobs"))
		return task_check_many(ctx, &places, python.dir);
	return task_check_named(ctx, &places, &python);
}

static const struct cmd_option options[] = {
	{ "run", 0, OPTION_FLAG, offsetof(struct check_options, run),
			.help = "play and score the baseline and the solution; compare the baseline with a "
				"published one" },
	{ "all", 0, OPTION_FLAG, offsetof(struct check_options, all),
			.help = "with --run: check each variant of each task, and print a table" },
	{ "variant", 0, OPTION_TEXT, offsetof(struct check_options, variant), "V",
			"with --all: check only variants of this name" },
	{ "jobs", 'j', OPTION_INT, offsetof(struct check_options, jobs), "N",
			"with --run: how many tasks to check at once; prints a table", "1",
			.min = 1, .max = JOBS_MAX },
	{ "seeds", 0, OPTION_INT, offsetof(struct check_options, seeds), "N",
			"with --run: play N times, and tell how far the scores move. Seeds of training and "
			"judge vary. So does generated data: its seeds count from --data-seed on",
			"1", .min = 1, .max = SEEDS_MAX },
	DATA_SEED_OPTION(offsetof(struct check_options, data_seed), 0, "0", ""),
	PYTHON_OPTION(offsetof(struct check_options, python)),
	TASKS_DIR_OPTION,
	{},
};

const struct command command_task_check = {
	.name = "check",
	.summary = "find mistakes in tasks",
	.arguments = "[T[:V]...]",
	.max_args = 1000,
	.about = "Reads the task with each of its variants, and compares data with its hashes. Checks that "
		 "the agent can't see what is hidden. A problem makes the exit status 1, or 2 if the task "
		 "can't be loaded; a note does not. Missing data is a problem of the named or default "
		 "variant.\n"
		 "With --run the named or default variant is played too. The scores must be those of the key "
		 "'expect', and the solution better than the baseline. The same submission must get the "
		 "same score twice. No hidden file may be seen in an episode, not even a "
		 "copy. --all checks every variant of every task, and leaves out those whose data or "
		 "Python packages are missing.\n"
		 "For a task of MLGym, notes name imported modules that Python lacks. With --python the "
		 "modules and wanted packages are looked up in that environment, and missing ones are "
		 "problems. --run then plays and scores with it.",
	.options = options,
	.options_size = sizeof(struct check_options),
	.run = task_check_main,
};
