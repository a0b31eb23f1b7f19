/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"
#include "base/scope.h"
#include "cli/cmd.h"
#include "cmd/export_runs.h"
#include "cmd/record_json.h"
#include "trajectory/export_files.h"
#include "trajectory/traj.h"

#include <errno.h>
#include <stdio.h>

/*
 * fumehood export: writes runs as files of other programs. MLGym's are made from the events of
 * runs, which may have been killed or still go on.
 */

#define FIELD(f) offsetof(struct export_options, f)

static const char *const formats[] = { "traj", "inspect", "chat", "steps", "csv", NULL };

static const struct cmd_option options[] = {
	{ "format", 'F', OPTION_CHOICE, FIELD(format), "FORMAT", "form of the files",
			.preset = "traj", .choices = formats,
			.why = "for Parquet, pipe --format steps into python3 -m fumehood.parquet FILE" },
	{ "out", 'o', OPTION_PATH, FIELD(out), "PATH",
			"file to write, - for standard output; for inspect a folder" },
	{ "model", 0, OPTION_LIST, FIELD(models), "M",
			"only runs of this model; repeat it, or write M,..., for several" },
	{ "models", 0, OPTION_LIST, FIELD(models), "M,..." },
	{ "task", 0, OPTION_LIST, FIELD(tasks), "T",
			"only runs of this task; repeat it, or write T,..., for several" },
	{ "tasks", 0, OPTION_LIST, FIELD(tasks), "T,..." },
	{ "improved", 0, OPTION_FLAG, FIELD(improved), NULL,
			"only runs whose best score is better than the baseline" },
	{ "tasks-dir", 0, OPTION_PATH, FIELD(tasks_dir), "DIR",
			"folder of tasks that is searched first, for metrics of MLGym's records" },
	{},
};

static void export_print_json(const char *path, const char *traj, const struct exported *e)
{
	auto_buf struct buf line = BUF_INIT(1024 * 1024);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&line, PYJSON_LINE);

	pyjson_put_object(&w, NULL);
	record_json_put(&w, path, e);
	pyjson_put_i64(&w, "steps", (int64_t)e->traj->n_steps);
	pyjson_put_value(&w, "scores", e->traj->info.score);
	pyjson_put_text(&w, "trajectory", traj);
	pyjson_end_object(&w);
	printf("%s\n", buf_str(&line));
}

/* Refuses to replace a .traj by one with fewer steps. Then events were lost since the old .traj was
 * made. */
static int export_check_steps(const char *path, const struct exported *e, struct fh_error *err)
{
	struct traj *there;
	size_t n_steps;

	if (!path_exists(path) || export_traj(path, &there, NULL) < 0)
		return 0;
	n_steps = there->n_steps;
	traj_free(there);
	if (n_steps <= e->traj->n_steps)
		return 0;
	return error_say(err, EEXIST,
			"'%s' has %zu steps, but events.jsonl has only %zu: move the file away and export again",
			path, n_steps, e->traj->n_steps);
}

static int export_one(const char *path, bool json, struct fh_error *err)
{
	__attribute__((cleanup(export_release))) struct exported e = { 0 };
	/* a run's folder, which `path` names directly, or by a file in it */
	auto_free char *dir = path_is_dir(path) ? path_normalise(path) : path_dirname(path);
	auto_free char *traj = NULL;
	int r;

	if (!path_exists(path))
		return error_set(err, ENOENT, "export '%s'", path);
	r = export_read(dir, &e, err);
	if (r == -ENOENT)
		return error_say(err, ENOENT, "'%s' is not a run: '%s' has no events.jsonl", path,
				dir);
	if (r < 0)
		return r;
	traj = path_join(dir, e.traj_name);
	r = export_check_steps(traj, &e, err);
	if (r < 0)
		return r;
	r = export_write(dir, &e, err);
	if (r < 0)
		return r;
	if (!e.over)
		cmd_warn("the record in '%s' ends with step %zu: the episode still runs, or was killed",
				dir, e.traj->n_steps);
	if (json)
		export_print_json(path, traj, &e);
	else
		puts(traj);
	return 0;
}

static int export_trajs(struct command_context *ctx)
{
	int worst = CMD_OK;

	for (size_t i = 0; i < ctx->n_args; i++) {
		struct fh_error err;
		int status;

		if (export_one(ctx->args[i], ctx->json, &err) == 0)
			continue;
		status = cmd_refuse_subject(ctx, "run", ctx->args[i], &err);
		worst = status > worst ? status : worst;
	}
	return worst;
}

static int export_main(struct command_context *ctx)
{
	static const char *const others[] = { "out", "model", "task", "improved", "tasks-dir" };
	const struct export_options *o = ctx->options;

	if (o->format != EXPORT_TRAJ)
		return export_runs(ctx);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (cmd_given(ctx, others[i]))
			return cmd_misuse(ctx, "--%s needs a --format other than traj", others[i]);
	return export_trajs(ctx);
}

const struct command command_export = {
	.name = "export",
	.summary = "write runs in formats of other programs",
	.arguments = "RUN...",
	.min_args = 1,
	.max_args = 1000000,
	.about = "Without --format, writes <task>.traj and results.json from events.jsonl, as the end of a "
		 "run does. RUN is the folder of a run. It may have been killed, or still go on.\n"
		 "With another format, RUN may be any folder: all runs beneath are taken, Fumehood's and "
		 "MLGym's. inspect: logs for `inspect view`, one for each task, model and agent. chat: "
		 "conversations for OpenAI's fine-tuning. steps: a line of JSON for each step. csv: the "
		 "same as a table. For Parquet, pipe steps into `python3 -m fumehood.parquet FILE`. "
		 "docs/export.md explains them.",
	.examples = "fumehood export trajectories/me/*_run_0\n"
		    "fumehood export --format inspect --out logs trajectories/me\n"
		    "fumehood export --format chat --improved --out good.jsonl trajectories/me",
	.options = options,
	.options_size = sizeof(struct export_options),
	.run = export_main,
};
