/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/table.h"
#include "cli/term.h"
#include "task/load.h"

#include <stdio.h>

/* fumehood task list: a line for each task. */

enum list_column { LIST_TASK, LIST_VARIANTS, LIST_METRIC, LIST_NAME, N_LIST_COLUMNS };

static const char *const titles[N_LIST_COLUMNS] = { "task", "variants", "metric", "name" };

#define CELL_COLUMNS 60

/* A task for the list. The caller owns the id. */
struct list_row {
	const char *id;
	/* the task, maybe without its data; NULL: the task's file can't be read */
	struct task *task;
	char **variants;         /* names of the variants; NULL: the task's file can't be read */
	struct fh_error problem; /* error of reading the task; code 0: none */
};

static struct list_row task_list_find(const struct task_places *places, const char *id)
{
	struct list_row row = { .id = id };
	struct task *loaded = NULL;

	task_load(places, id, NULL, &loaded, &row.problem);
	task_free(loaded);
	task_read(places, id, NULL, &row.task, NULL);
	task_variants(places, id, &row.variants, NULL);
	return row;
}

static const char *task_list_default_variant(const struct list_row *row)
{
	return task_variant_name(row->task ? row->task->variant : "");
}

/* Names of all variants of a task as JSON, the default first. */
static json_t *task_list_variants_of(const struct list_row *row)
{
	const char *first = task_list_default_variant(row);
	json_t *list = json_array();

	if (!row->variants)
		return list;
	json_array_append_new(list, json_text(first));
	if (!str_eq(first, TASK_FULL))
		json_array_append_new(list, json_text(TASK_FULL));
	for (char **v = row->variants; *v; v++)
		if (!str_eq(*v, first))
			json_array_append_new(list, json_text(*v));
	return list;
}

static void task_list_print_json(const struct list_row *row)
{
	const struct task *task = row->task;
	const char *direction = task && task->maximize ? "maximize" : "minimize";
	const char *problem = row->problem.code ? row->problem.message : NULL;
	auto_json json_t *line = json_pack("{s:o, s:o, s:o, s:o, s:o, s:s?, s:b, s:o}", "task",
			json_text(row->id), "name", json_text(task ? task->name : NULL), "variants",
			task_list_variants_of(row), "default_variant",
			json_text(task ? task_list_default_variant(row) : NULL), "metric",
			json_text(task ? task->metric : NULL), "direction", task ? direction : NULL,
			"ready", !problem, "problem", json_text(problem));

	cmd_print_json(line);
}

static void task_list_add(struct text_table *table, const struct list_row *found)
{
	const struct task *task = found->task;
	auto_json json_t *variants = task_list_variants_of(found);
	auto_buf struct buf names = BUF_INIT(4096);
	auto_free char *metric = !task ? xstrdup("")
				       : xasprintf("%s, %s is better", task->metric,
							 task->maximize ? "more" : "less");
	struct table_row *row = table_add(table);

	for (size_t i = 0; i < json_array_size(variants); i++)
		buf_printf(&names, "%s%s", i ? ", " : "",
				json_string_value(json_array_get(variants, i)));
	row->cells[LIST_TASK] = term_cell(found->id, CELL_COLUMNS);
	row->cells[LIST_VARIANTS] = buf_take(&names);
	row->cells[LIST_METRIC] = term_cell(metric, CELL_COLUMNS);
	row->cells[LIST_NAME] = term_cell(task ? task->name : "", CELL_COLUMNS);
}

static int task_list_main(struct command_context *ctx)
{
	struct text_table table = {
		.titles = titles, .n_columns = N_LIST_COLUMNS, .n_left = N_LIST_COLUMNS
	};
	auto_buf struct buf text = BUF_INIT(1L << 24);
	struct fh_error err = FH_ERROR_INIT;
	struct task_places places;
	char **ids;

	if (task_options_places(ctx, &places, &err) < 0 || task_list(&places, &ids, &err) < 0)
		return cmd_refuse(&err);
	for (char **id = ids; *id; id++) {
		struct list_row row = task_list_find(&places, *id);

		if (ctx->json)
			task_list_print_json(&row);
		else
			task_list_add(&table, &row);
		if (!ctx->json && row.problem.code)
			cmd_warn("%s: %s", *id, row.problem.message);
		task_free(row.task);
		xfree_strings(row.variants);
	}
	if (!ctx->json)
		table_print(&text, &table, term_colours(1));
	fputs(buf_str(&text), stdout);
	table_release(&table);
	xfree_strings(ids);
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
