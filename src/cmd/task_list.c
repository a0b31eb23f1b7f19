/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "cli/table.h"
#include "cli/term.h"

#include <fumehood/task.h>

#include <stdio.h>

/* fumehood task list: a line for each task. */

enum list_column { LIST_TASK, LIST_VARIANTS, LIST_METRIC, LIST_NAME, N_LIST_COLUMNS };

static const char *const titles[N_LIST_COLUMNS] = { "task", "variants", "metric", "name" };

#define TASK_LIST_CELL_COLUMNS 60

static void task_list_print_json(const struct fh_task_info *task)
{
	const char *direction = task->maximize ? "maximize" : "minimize";
	const char *preset = task->n_variants ? task->variants[0].name : TASK_FULL;
	json_t *variants = json_array();
	auto_json json_t *line = NULL;

	for (size_t i = 0; i < task->n_variants; i++)
		json_array_append_new(variants, json_text(task->variants[i].name));
	line = json_pack("{s:o, s:o, s:o, s:o, s:o, s:s?, s:b, s:o}", "task", json_text(task->id),
			"name", json_text(task->name), "variants", variants, "default_variant",
			json_text(task->name ? preset : NULL), "metric", json_text(task->metric),
			"direction", task->name ? direction : NULL, "ready", !task->problem,
			"problem", json_text(task->problem));
	cmd_print_json(line);
}

static void task_list_add(struct text_table *table, const struct fh_task_info *task)
{
	auto_buf struct buf names = BUF_INIT(4096);
	auto_free char *metric = !task->name ? xstrdup("")
					     : xasprintf("%s, %s is better", task->metric,
							       task->maximize ? "more" : "less");
	struct table_row *row = table_add(table);

	for (size_t i = 0; i < task->n_variants; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", task->variants[i].name);
	row->cells[LIST_TASK] = term_cell(task->id, TASK_LIST_CELL_COLUMNS);
	row->cells[LIST_VARIANTS] = buf_take(&names);
	row->cells[LIST_METRIC] = term_cell(metric, TASK_LIST_CELL_COLUMNS);
	row->cells[LIST_NAME] = term_cell(task->name ? task->name : "", TASK_LIST_CELL_COLUMNS);
	if (task->problem)
		cmd_warn("%s: %s", task->id, task->problem);
}

static int task_list_main(struct command_context *ctx)
{
	struct text_table table = {
		.titles = titles, .n_columns = N_LIST_COLUMNS, .n_left = N_LIST_COLUMNS
	};
	auto_buf struct buf text = BUF_INIT(1L << 24);
	struct fh_error err = FH_ERROR_INIT;
	const struct fh_task_info *task;
	struct fh_gym_options places;
	struct fh_tasks *tasks;

	if (task_options_gym(ctx, &places, &err) < 0 || fh_tasks_list(&places, &tasks, &err) < 0)
		return cmd_refuse(&err);
	for (size_t i = 0; (task = fh_tasks_at(tasks, i)); i++) {
		if (ctx->json)
			task_list_print_json(task);
		else
			task_list_add(&table, task);
	}
	if (!ctx->json)
		table_print(&text, &table, term_colours(1));
	fputs(buf_str(&text), stdout);
	table_release(&table);
	fh_tasks_free(tasks);
	return CMD_OK;
}

static const struct cmd_option options[] = {
	TASKS_DIR_OPTION,
	{},
};

const struct command command_task_list = {
	.name = "list",
	.summary = "list the tasks",
	.about = "The first variant of a task is the default.",
	.options = options,
	.options_size = sizeof(struct task_options),
	.run = task_list_main,
};
