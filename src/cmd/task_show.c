/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task.h"

#include "base/json.h"
#include "base/str.h"
#include "cli/term.h"
#include "task/config.h"
#include "task/load.h"

#include <errno.h>
#include <stdio.h>

/* fumehood task show: prints what a task asks for. */

#define TEXT_BYTES_MAX (16 * 1024 * 1024)

struct task_show_options {
	struct task_options task;
	bool keys;
};

/* --- as YAML ---------------------------------------------------------------------------------- */

static int task_show_print_keys(const struct task *task, const struct fh_error *problem)
{
	auto_arena struct arena arena = ARENA_INIT;
	auto_buf struct buf text = BUF_INIT(TEXT_BYTES_MAX);
	struct task_config config;
	struct fh_error err = FH_ERROR_INIT;

	if (schema_read(&arena, &task_schema, task->keys, NULL, &config, &err) < 0)
		return cmd_fail(&err);
	schema_print(&text, &task_schema, &config);
	fputs(buf_str(&text), stdout);
	return CMD_OK;
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static json_t *task_show_targets_json(const struct task_file *files, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_text(files[i].target));
	return list;
}

static json_t *task_show_limits_json(const struct task *task)
{
	const struct sandbox_limits *limits = &task->limits;

	return json_pack("{s:I, s:I, s:f, s:I, s:I, s:I}", "memory_bytes",
			(json_int_t)limits->memory_bytes, "pids", (json_int_t)limits->pids, "cpus",
			limits->cpus, "disk_bytes", (json_int_t)limits->disk_bytes, "disk_files",
			(json_int_t)limits->disk_files, "output_bytes",
			(json_int_t)task->output_bytes);
}

static json_t *task_show_published_json(const struct task *task)
{
	json_t *out = json_object();

	for (size_t i = 0; i < task->n_published; i++)
		json_object_set_new(
				out, task->published[i].name, json_real(task->published[i].value));
	return out;
}

static int task_show_print_json(const struct task *task, const struct fh_error *problem)
{
	auto_json json_t *out = json_pack(
			"{s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:i, s:f, s:f, s:s, s:o, "
			"s:o, s:o, s:o, s:o}",
			"task", json_text(task->id), "variant",
			json_text(task_variant_name(task->variant)), "name", json_text(task->name),
			"description", json_text(task->description), "metric",
			json_text(task->metric), "direction",
			task->maximize ? "maximize" : "minimize", "grader",
			grader_kinds[task->grader.kind], "submission",
			json_text(task->grader.submission), "baseline",
			json_text(task->baseline_command), "baseline_scores",
			task_show_published_json(task), "max_steps", (int)task->max_steps,
			"training_timeout_s", (double)task->training_timeout_ms / 1000,
			"short_timeout_s", (double)task->short_timeout_ms / 1000, "network",
			network_names[task->network], "limits", task_show_limits_json(task),
			"starter", task_show_targets_json(task->starter, task->n_starter), "data",
			task_show_targets_json(task->data, task->n_data), "folder",
			json_text(task->dir), "problem",
			json_text(problem ? problem->message : NULL));

	cmd_print_json(out);
	return CMD_OK;
}

/* --- for people ------------------------------------------------------------------------------- */

#define LABEL_COLUMNS 12

static void task_show_add_label(struct buf *out, const char *label)
{
	buf_printf(out, "%-*s", LABEL_COLUMNS, label);
}

static void task_show_add_targets(struct buf *out, const char *label, const char *folder,
		const struct task_file *files, size_t n)
{
	if (!n)
		return;
	task_show_add_label(out, label);
	for (size_t i = 0; i < n; i++) {
		buf_printf(out, "%s%s", i ? ", " : "", folder);
		str_add_printable(out, files[i].target);
	}
	buf_add_char(out, '\n');
}

static void task_show_add_size(struct buf *out, int64_t bytes, const char *what)
{
	if (bytes)
		buf_printf(out, "%.4g MiB of %s, ", (double)bytes / (1 << 20), what);
}

static void task_show_add_limits(struct buf *out, const struct task *task)
{
	task_show_add_label(out, "limits");
	task_show_add_size(out, task->limits.memory_bytes, "memory");
	task_show_add_size(out, task->limits.disk_bytes, "disk");
	if (task->limits.pids)
		buf_printf(out, "%lld processes, ", (long long)task->limits.pids);
	if (task->limits.cpus)
		buf_printf(out, "%g cores, ", task->limits.cpus);
	buf_printf(out, "network: %s\n", network_names[task->network]);
}

static void task_show_add_baseline(struct buf *out, const struct task *task)
{
	task_show_add_label(out, "baseline");
	if (task->baseline_command)
		str_add_printable(out, task->baseline_command);
	for (size_t i = 0; !task->baseline_command && i < task->n_published; i++)
		buf_printf(out, "%s%s %.6g", i ? ", " : "", task->published[i].name,
				task->published[i].value);
	buf_add_char(out, '\n');
}

static void task_show_add_facts(struct buf *out, const struct task *task)
{
	task_show_add_label(out, "metric");
	buf_printf(out, "%s, %s is better\n", task->metric, task->maximize ? "more" : "less");
	/* a task whose data is missing has no submission */
	if (task->grader.submission) {
		task_show_add_label(out, "scored");
		buf_printf(out, "%s%sby a %s grader\n", task->grader.submission,
				*task->grader.submission ? ", " : "",
				grader_kinds[task->grader.kind]);
		task_show_add_baseline(out, task);
	}
	task_show_add_label(out, "steps");
	buf_printf(out, "%d, each at most %g s, with Python %g s\n", task->max_steps,
			(double)task->short_timeout_ms / 1000,
			(double)task->training_timeout_ms / 1000);
	task_show_add_limits(out, task);
	task_show_add_targets(out, "workspace", "", task->starter, task->n_starter);
	task_show_add_targets(out, "data", "data/", task->data, task->n_data);
	task_show_add_label(out, "folder");
	str_add_printable(out, task->dir);
	buf_add_char(out, '\n');
}

static int task_show_print_text(const struct task *task, const struct fh_error *problem)
{
	bool colours = term_colours(1);
	auto_buf struct buf text = BUF_INIT(TEXT_BYTES_MAX);

	buf_printf(&text, "%s%s%s%s%s: ", term_style(colours, TERM_BOLD), task->id,
			*task->variant ? ":" : "", task->variant, term_style(colours, TERM_RESET));
	str_add_printable(&text, task->name);
	buf_add_str(&text, "\n\n");
	task_show_add_facts(&text, task);
	if (problem) {
		task_show_add_label(&text, "problem");
		str_add_printable(&text, problem->message);
		buf_add_char(&text, '\n');
	}
	buf_add_char(&text, '\n');
	str_add_printable(&text, task->description);
	fputs(buf_str(&text), stdout);
	if (!str_ends(task->description, "\n"))
		putchar('\n');
	return CMD_OK;
}

static int task_show_main(struct command_context *ctx)
{
	const struct task_show_options *o = ctx->options;
	struct task_places places;
	struct fh_error err = FH_ERROR_INIT;
	struct task *task = NULL;
	int (*print)(const struct task *, const struct fh_error *) = ctx->json
			? task_show_print_json
			: o->keys ? task_show_print_keys
				  : task_show_print_text;
	const struct fh_error *problem;
	struct fh_error why = FH_ERROR_INIT;
	int status, r;

	if (task_options_places(ctx, &places, &err) < 0)
		return cmd_refuse(&err);
	/* With --keys, show the task's keys even if its files are missing. */
	r = o->keys ? -ENODATA : task_load(&places, ctx->args[0], NULL, &task, &err);
	problem = o->keys || r == 0 ? NULL : &err;
	if (r < 0 && task_read(&places, ctx->args[0], NULL, &task, &why) < 0)
		return cmd_refuse_subject(ctx, "task", ctx->args[0], problem ? problem : &why);
	status = print(task, problem);
	task_free(task);
	return status;
}

static const struct cmd_option options[] = {
	{ "keys", 0, OPTION_FLAG, offsetof(struct task_show_options, keys),
			.help = "print every key of task.yaml with its value, also defaults, as YAML" },
	TASKS_DIR_OPTION,
	{},
};

const struct command command_task_show = {
	.name = "show",
	.summary = "show what a task asks for",
	.arguments = "T[:V]",
	.min_args = 1,
	.max_args = 1,
	.options = options,
	.options_size = sizeof(struct task_show_options),
	.examples = "fumehood task show titanicSurvival\nfumehood task show --keys titanicSurvival:full",
	.run = task_show_main,
};
