/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task.h"

#include "base/json.h"
#include "base/str.h"
#include "cli/term.h"
#include "task/config.h"
#include "task/load.h"

#include <fumehood/task.h>

#include <stdio.h>

/* fumehood task show: prints what a task asks for. */

#define TASK_SHOW_TEXT_BYTES_MAX (16 * 1024 * 1024)

struct task_show_options {
	struct task_options task;
	bool keys;
};

/* --- as YAML ---------------------------------------------------------------------------------- */

/* Prints the keys even if the task's data is missing. */
static int task_show_print_keys(const struct command_context *ctx, const struct fh_gym_options *gym)
{
	const struct task_places places = { gym->tasks_dir, gym->mlgym_root, .data_seed = 0 };
	auto_arena struct arena arena = ARENA_INIT;
	auto_buf struct buf text = BUF_INIT(TASK_SHOW_TEXT_BYTES_MAX);
	struct fh_error err = FH_ERROR_INIT;
	struct task_config config;
	auto_task struct task *task = NULL;
	int r;

	if (task_read(&places, ctx->args[0], NULL, &task, &err) < 0)
		return cmd_refuse_subject(ctx, "task", ctx->args[0], &err);
	r = schema_read(&arena, &task_schema, task->keys, NULL, &config, &err);
	if (r < 0)
		return cmd_fail(&err);
	schema_print(&text, &task_schema, &config);
	fputs(buf_str(&text), stdout);
	return CMD_OK;
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static json_t *task_show_names_json(const char *const *names, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_text(names[i]));
	return list;
}

static json_t *task_show_limits_json(const struct fh_task_limits *limits)
{
	return json_pack("{s:I, s:I, s:f, s:I, s:I, s:I}", "memory_bytes",
			(json_int_t)limits->memory_bytes, "pids", (json_int_t)limits->pids, "cpus",
			limits->cpus, "disk_bytes", (json_int_t)limits->disk_bytes, "disk_files",
			(json_int_t)limits->disk_files, "output_bytes",
			(json_int_t)limits->output_bytes);
}

static json_t *task_show_scores_json(const struct fh_metric *metrics, size_t n)
{
	json_t *out = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(out, metrics[i].name, json_real(metrics[i].value));
	return out;
}

/* A score that the task's file states: {"mean": 0.65, "deviation": 0.02}, or null. */
static json_t *task_show_expect_json(const struct fh_task_expect *expect)
{
	if (!expect->given)
		return json_null();
	return json_pack("{s:f, s:f}", "mean", expect->mean, "deviation", expect->deviation);
}

static const char *task_show_network(const struct fh_task_info *task)
{
	return network_names[task->network ? NETWORK_HOST : NETWORK_NONE];
}

/* The grader's members, and those of scores. */
static json_t *task_show_scoring_json(const struct fh_task_info *task)
{
	const struct fh_metric *here = task->baseline;
	json_t *published = json_null();

	if (task->why_comparable)
		published = json_pack("{s:b, s:o}", "comparable", task->comparable, "why",
				json_text(task->why_comparable));
	return json_pack("{s:o, s:o, s:I, s:f, s:i, s:b, s:o, s:b, s:o, s:o, s:o, s:o, s:o}",
			"grader", json_text(task->grader), "submission",
			json_text(task->submission), "submission_bytes",
			(json_int_t)task->submission_bytes, "grading_timeout_s",
			task->grading_timeout_s, "validations", task->validations, "final",
			task->final, "baseline", json_text(task->baseline_command),
			"baseline_is_starter", task->baseline_is_starter, "baseline_scores",
			task_show_scores_json(task->published, task->n_published), "baseline_here",
			here ? task_show_scores_json(here, task->n_baseline) : json_null(),
			"published", published, "expect_baseline",
			task_show_expect_json(&task->expect_baseline), "expect_solution",
			task_show_expect_json(&task->expect_solution));
}

/* Members of an episode and its files. */
static json_t *task_show_episode_json(const struct fh_task_info *task)
{
	return json_pack("{s:i, s:f, s:f, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "max_steps",
			task->max_steps, "training_timeout_s", task->training_timeout_s,
			"short_timeout_s", task->short_timeout_s, "network",
			task_show_network(task), "limits", task_show_limits_json(&task->limits),
			"starter", task_show_names_json(task->starter, task->n_starter), "data",
			task_show_names_json(task->data, task->n_data), "packages",
			task_show_names_json(task->packages, task->n_packages), "folder",
			json_text(task->folder), "problem", json_text(task->problem), "missing",
			task_show_names_json(task->missing, task->n_missing));
}

static void task_show_print_json(const struct fh_task_info *task)
{
	auto_json json_t *scoring = task_show_scoring_json(task);
	auto_json json_t *episode = task_show_episode_json(task);
	auto_json json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:s}", "task",
			json_text(task->id), "variant", json_text(task_variant_name(task->variant)),
			"name", json_text(task->name), "description", json_text(task->description),
			"metric", json_text(task->metric), "direction",
			task->maximize ? "maximize" : "minimize");

	json_object_update(out, scoring);
	json_object_update(out, episode);
	cmd_print_json(out);
}

/* --- for people ------------------------------------------------------------------------------- */

#define LABEL_COLUMNS 12

static void task_show_add_label(struct buf *out, const char *label)
{
	buf_printf(out, "%-*s", LABEL_COLUMNS, label);
}

static void task_show_add_names(struct buf *out, const char *label, const char *folder,
		const char *const *names, size_t n)
{
	if (!n)
		return;
	task_show_add_label(out, label);
	for (size_t i = 0; i < n; i++) {
		buf_printf(out, "%s%s", i ? ", " : "", folder);
		str_add_printable(out, names[i]);
	}
	buf_add_char(out, '\n');
}

static void task_show_add_sentences(
		struct buf *out, const char *label, const char *const *sentences, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		task_show_add_label(out, label);
		str_add_printable(out, sentences[i]);
		buf_add_char(out, '\n');
	}
}

static void task_show_add_size(struct buf *out, int64_t bytes, const char *what)
{
	if (bytes)
		buf_printf(out, "%.6g MiB of %s, ", (double)bytes / (1 << 20), what);
}

static void task_show_add_limits(struct buf *out, const struct fh_task_info *task)
{
	const struct fh_task_limits *limits = &task->limits;

	task_show_add_label(out, "limits");
	task_show_add_size(out, limits->memory_bytes, "memory");
	task_show_add_size(out, limits->disk_bytes, "disk");
	if (limits->pids)
		buf_printf(out, "%lld processes, ", (long long)limits->pids);
	if (limits->cpus)
		buf_printf(out, "%g cores, ", limits->cpus);
	if (limits->wall_s > 0)
		buf_printf(out, "%g s for an episode, ", limits->wall_s);
	buf_printf(out, "network: %s\n", task_show_network(task));
}

static void task_show_add_scores(struct buf *out, const struct fh_metric *metrics, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%s %.6g", i ? ", " : "", metrics[i].name, metrics[i].value);
}

static void task_show_add_expect(struct buf *out, const char *label, const char *metric,
		const struct fh_task_expect *expect)
{
	if (!expect->given)
		return;
	task_show_add_label(out, label);
	buf_printf(out, "%s %.6g, standard deviation %.6g\n", metric, expect->mean,
			expect->deviation);
}

/* A baseline whose command is "true" changes nothing: the starter's file is the submission. */
static void task_show_add_baseline(struct buf *out, const struct fh_task_info *task)
{
	task_show_add_label(out, "baseline");
	if (task->baseline_is_starter)
		buf_printf(out, "the starter's %s as it is", task->submission);
	else if (task->baseline_command)
		str_add_printable(out, task->baseline_command);
	else
		task_show_add_scores(out, task->published, task->n_published);
	if (task->baseline_command && task->baseline) {
		buf_add_str(out, ": ");
		task_show_add_scores(out, task->baseline, task->n_baseline);
	}
	buf_add_char(out, '\n');
}

/* Adds the baseline's published scores, and whether ours can be compared with them. */
static void task_show_add_published(struct buf *out, const struct fh_task_info *task)
{
	if (task->baseline_command && task->n_published) {
		task_show_add_label(out, "  published");
		task_show_add_scores(out, task->published, task->n_published);
		buf_add_char(out, '\n');
	}
	if (!task->why_comparable)
		return;
	task_show_add_label(out, "comparable");
	buf_printf(out, "%s. ", task->comparable ? "yes" : "no");
	str_add_printable(out, task->why_comparable);
	buf_add_char(out, '\n');
}

static void task_show_add_grader(struct buf *out, const struct fh_task_info *task)
{
	task_show_add_label(out, "scored");
	if (*task->submission)
		buf_printf(out, "%s (at most %.6g MiB), ", task->submission,
				(double)task->submission_bytes / (1 << 20));
	buf_printf(out, "by a %s grader in at most %g s\n", task->grader, task->grading_timeout_s);
	task_show_add_label(out, "validates");
	if (task->validations)
		buf_printf(out, "%d at most", task->validations);
	else
		buf_add_str(out, "no limit");
	buf_printf(out, "%s\n", task->final ? "; the end is scored by other hidden answers" : "");
	task_show_add_baseline(out, task);
	task_show_add_expect(out, "  stated", task->metric, &task->expect_baseline);
	task_show_add_published(out, task);
	task_show_add_expect(out, "solution", task->metric, &task->expect_solution);
}

static void task_show_add_facts(struct buf *out, const struct fh_task_info *task)
{
	task_show_add_label(out, "metric");
	buf_printf(out, "%s, %s is better\n", task->metric, task->maximize ? "more" : "less");
	if (task->grader) /* unset if the task has another problem than missing data */
		task_show_add_grader(out, task);
	task_show_add_label(out, "steps");
	buf_printf(out, "%d, each at most %g s, with Python %g s\n", task->max_steps,
			task->short_timeout_s, task->training_timeout_s);
	task_show_add_limits(out, task);
	task_show_add_names(out, "workspace", "", task->starter, task->n_starter);
	task_show_add_names(out, "data", "data/", task->data, task->n_data);
	task_show_add_names(out, "packages", "", task->packages, task->n_packages);
	task_show_add_label(out, "folder");
	str_add_printable(out, task->folder);
	buf_add_char(out, '\n');
}

static void task_show_print_text(const struct fh_task_info *task)
{
	bool colours = term_colours(1);
	auto_buf struct buf text = BUF_INIT(TASK_SHOW_TEXT_BYTES_MAX);

	buf_printf(&text, "%s%s%s%s%s: ", term_style(colours, TERM_BOLD), task->id,
			*task->variant ? ":" : "", task->variant, term_style(colours, TERM_RESET));
	str_add_printable(&text, task->name);
	buf_add_str(&text, "\n\n");
	task_show_add_facts(&text, task);
	if (task->n_missing)
		task_show_add_sentences(&text, "missing", task->missing, task->n_missing);
	else if (task->problem)
		task_show_add_sentences(&text, "problem", &task->problem, 1);
	buf_add_char(&text, '\n');
	str_add_printable(&text, task->description);
	fputs(buf_str(&text), stdout);
	if (!str_ends(task->description, "\n"))
		putchar('\n');
}

static int task_show_main(struct command_context *ctx)
{
	const struct task_show_options *o = ctx->options;
	const struct fh_env_options env = FH_ENV_OPTIONS(.task = ctx->args[0]);
	struct fh_error err = FH_ERROR_INIT;
	struct fh_gym_options places;
	struct fh_tasks *tasks;

	if (task_options_gym(ctx, &places, &err) < 0)
		return cmd_refuse(&err);
	if (o->keys)
		return task_show_print_keys(ctx, &places);
	if (fh_tasks_describe(&places, &env, &tasks, &err) < 0)
		return cmd_refuse_subject(ctx, "task", ctx->args[0], &err);
	(ctx->json ? task_show_print_json : task_show_print_text)(fh_tasks_at(tasks, 0));
	fh_tasks_free(tasks);
	return CMD_OK;
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
