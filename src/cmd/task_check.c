/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task.h"

#include "base/json.h"
#include "base/str.h"
#include "cli/term.h"
#include "cmd/episode_options.h"
#include "run/trial.h"
#include "sandbox/python.h"
#include "task/find.h"

#include <stdio.h>

/* fumehood task check: finds mistakes in tasks. */

#define REPORT_BYTES_MAX (1024 * 1024)

struct check_options {
	struct task_options task;
	bool run;
	const char *python;
	uint64_t data_seed;
};

/* Result of the check of one task. */
struct outcome {
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

static void task_check_print_json(const struct outcome *o)
{
	auto_json json_t *out = json_pack("{s:o, s:b, s:o, s:o, s:O?}", "task", json_text(o->spec),
			"ok", o->status == CMD_OK, "problems",
			task_check_remarks_json(&o->check, true), "notes",
			task_check_remarks_json(&o->check, false), "played", o->played);

	cmd_print_json(out);
}

static void task_check_print_line(const char *what, const char *text)
{
	auto_buf struct buf line = BUF_INIT(REPORT_BYTES_MAX);

	str_add_printable(&line, text);
	printf("  %s: %s\n", what, buf_str(&line));
}

/* Prints the scores played[what], if there are any. `remark` is the key of a text to add; NULL:
 * none. */
static void task_check_print_scores(const json_t *played, const char *what, const char *remark)
{
	json_t *scores = json_object_get(played, what), *value;
	const char *text = remark ? json_string_value(json_object_get(played, remark)) : NULL;
	const char *name, *comma = "";

	if (!scores)
		return;
	printf("  %s:", what);
	json_object_foreach(scores, name, value) {
		printf("%s %s %.6g", comma, name, json_number_value(value));
		comma = ",";
	}
	if (text)
		printf(" (%s)", text);
	putchar('\n');
}

/* Prints the text played[key], if there is one. */
static void task_check_print_member(const json_t *played, const char *key)
{
	const char *text = json_string_value(json_object_get(played, key));

	if (text)
		task_check_print_line(key, text);
}

static void task_check_print_text(const struct outcome *o)
{
	bool colours = term_colours(1);

	bool ok = o->status == CMD_OK;

	printf("%s%s%s %s\n", term_style(colours, ok ? TERM_GREEN : TERM_RED), ok ? "ok" : "FAIL",
			term_style(colours, TERM_RESET), o->spec);
	for (size_t i = 0; i < o->check.n; i++) {
		const struct task_remark *remark = &o->check.remarks[i];

		task_check_print_line(remark->problem ? "problem" : "note", remark->text);
	}
	if (o->check.n == TASK_REMARKS_MAX)
		printf("  and more\n");
	task_check_print_scores(o->played, "published", NULL);
	task_check_print_scores(o->played, "baseline", "compared");
	task_check_print_scores(o->played, "solution", NULL);
	task_check_print_member(o->played, "note");
	task_check_print_member(o->played, "problem");
}

/* Checks one task, and plays it if `run`. False if there is no such task. */
static bool task_check_check_one(const struct task_places *places, const struct python_env *python,
		bool run, struct outcome *o, struct fh_error *err)
{
	struct trial trial = { .places = places, .spec = o->spec, .python = python->spec };
	int r;

	if (task_check(places, o->spec, python->dir, &o->check, err) < 0)
		return false;
	if (!run) /* trial_play() checks the imports too */
		trial_check_imports(&trial, &o->check);
	o->status = o->check.refusal.code     ? cmd_status_of(&o->check.refusal)
			: o->check.n_problems ? CMD_FAILED
					      : CMD_OK;
	if (!run || o->status != CMD_OK)
		return true;
	o->played = json_object();
	r = trial_play(&trial, o->played, err);
	if (r < 0)
		json_object_set_new(o->played, "problem", json_text(err->message));
	o->status = r < 0 ? cmd_status_of(err) : r ? CMD_OK : CMD_FAILED;
	return true;
}

static int run_task_check(struct command_context *ctx)
{
	const struct check_options *options = ctx->options;
	struct fh_error err = FH_ERROR_INIT;
	struct python_env python = { .spec = NULL };
	struct task_places places;
	int status = CMD_OK;

	if (task_options_places(ctx, &places, &err) < 0)
		return cmd_refuse(&err);
	if (options->python && python_env_find(ctx->arena, options->python, &python, &err) < 0)
		return cmd_refuse(&err);
	places.data_seed = options->data_seed;
	for (size_t i = 0; i < ctx->n_args; i++) {
		struct outcome o = { .spec = ctx->args[i] };

		if (!task_check_check_one(&places, &python, options->run, &o, &err)) {
			if (ctx->json)
				cmd_print_json_error("task", o.spec, &err);
			return cmd_refuse(&err);
		}
		if (ctx->json)
			task_check_print_json(&o);
		else
			task_check_print_text(&o);
		status = o.status > status ? o.status : status;
		task_check_release(&o.check);
		json_decref(o.played);
	}
	return status;
}

static const struct cmd_option options[] = {
	{ "run", 0, OPTION_FLAG, offsetof(struct check_options, run),
			.help = "play and score the baseline and the solution; compare the baseline with a "
				"published one" },
	DATA_SEED_OPTION(offsetof(struct check_options, data_seed), 0),
	PYTHON_OPTION(offsetof(struct check_options, python)),
	TASKS_DIR_OPTION,
	{},
};

const struct command command_task_check = {
	.name = "check",
	.summary = "find mistakes in tasks",
	.arguments = "T[:V]...",
	.min_args = 1,
	.max_args = 1000,
	.about = "Reads the task with each of its variants, and compares data with its hashes. Checks that "
		 "the agent can't see what is hidden. A problem makes the exit status 1, or 2 if the task "
		 "can't be loaded; a note does not. Missing data is a problem of the named or default "
		 "variant.\n"
		 "With --run the named or default variant is played too.\n"
		 "For a task of MLGym, notes name imported modules that Python lacks. With --python the "
		 "modules and wanted packages are looked up in that environment, and missing ones are "
		 "problems. --run then plays and scores with it.",
	.options = options,
	.options_size = sizeof(struct check_options),
	.run = run_task_check,
};
