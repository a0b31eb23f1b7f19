/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/term.h"

#include <stdio.h>

/* fumehood task list: a line for each task. */

enum list_column { COLUMN_TASK, COLUMN_VARIANTS, COLUMN_METRIC, COLUMN_NAME, N_COLUMNS };

static const char *const titles[N_COLUMNS] = { "task", "variants", "metric", "name" };

#define CELL_COLUMNS 60

/* A task of the list. Everything but the id is its own. */
struct list_row {
	const char *id;
	struct task *task;       /* NULL: its file can't be read */
	char **variants;         /* NULL: the same */
	struct fh_error problem; /* code 0: none */
	char *cells[N_COLUMNS];
};

static void release_row(struct list_row *row)
{
	task_free(row->task);
	task_list_free(row->variants);
	for (int c = 0; c < N_COLUMNS; c++)
		free(row->cells[c]);
}

static const char *default_variant(const struct list_row *row)
{
	return row->task && *row->task->variant ? row->task->variant : TASK_FULL;
}

/* What may follow the task's name; the one that is played when none does comes first. */
static json_t *variants_of(const struct list_row *row)
{
	const char *first = default_variant(row);
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

static char *variants_cell(const struct list_row *row)
{
	auto_buf struct buf out = BUF_INIT(4096);
	auto_json json_t *list = variants_of(row);

	for (size_t i = 0; i < json_array_size(list); i++)
		buf_printf(&out, "%s%s", i ? ", " : "", json_string_value(json_array_get(list, i)));
	return buf_take(&out);
}

static char *cell(const char *text)
{
	auto_buf struct buf out = BUF_INIT(4096);

	term_add_line(&out, text, CELL_COLUMNS);
	return buf_take(&out);
}

static char *metric_cell(const struct list_row *row)
{
	auto_free char *text = NULL;

	if (row->task)
		text = xasprintf("%s, %s is better", row->task->metric,
				row->task->maximize ? "more" : "less");
	return cell(text ? text : "");
}

static struct list_row make_row(const struct task_places *places, const char *id)
{
	struct list_row row = { .id = id };
	struct task *loaded = NULL;

	task_load(places, id, NULL, &loaded, &row.problem);
	task_free(loaded);
	task_read(places, id, NULL, &row.task, NULL);
	task_variants(places, id, &row.variants, NULL);
	row.cells[COLUMN_TASK] = cell(id);
	row.cells[COLUMN_VARIANTS] = variants_cell(&row);
	row.cells[COLUMN_METRIC] = metric_cell(&row);
	row.cells[COLUMN_NAME] = cell(row.task ? row.task->name : "");
	return row;
}

/* --- telling ---------------------------------------------------------------------------------- */

static json_t *row_json(const struct list_row *row)
{
	json_t *out = json_object();

	json_object_set_new(out, "task", json_text(row->id));
	json_object_set_new(out, "name", json_text(row->task ? row->task->name : NULL));
	json_object_set_new(out, "variants", variants_of(row));
	json_object_set_new(
			out, "default_variant", json_text(row->task ? default_variant(row) : NULL));
	json_object_set_new(out, "metric", json_text(row->task ? row->task->metric : NULL));
	json_object_set_new(out, "direction",
			json_text(!row->task                                  ? NULL
							: row->task->maximize ? "maximize"
									      : "minimize"));
	json_object_set_new(out, "ready", json_boolean(!row->problem.code));
	json_object_set_new(
			out, "problem", json_text(row->problem.code ? row->problem.message : NULL));
	return out;
}

static void print_json(const struct list_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_json json_t *line = row_json(&rows[i]);

		cmd_print_json(line);
	}
}

static void print_cells(const char *const *cells, const int *widths, const char *style)
{
	auto_buf struct buf line = BUF_INIT(65536);

	for (int c = 0; c < N_COLUMNS; c++) {
		buf_add_str(&line, c ? "  " : "");
		buf_add_str(&line, cells[c]);
		if (c + 1 < N_COLUMNS)
			term_add_pad(&line, term_columns(cells[c]), widths[c]);
	}
	printf("%s%s%s\n", style, buf_str(&line), *style ? TERM_RESET : "");
}

static void print_table(const struct list_row *rows, size_t n)
{
	int widths[N_COLUMNS] = { 0 };

	term_widen(widths, titles, N_COLUMNS);
	for (size_t i = 0; i < n; i++)
		term_widen(widths, (const char *const *)rows[i].cells, N_COLUMNS);
	print_cells(titles, widths, term_style(term_colours(1), TERM_BOLD));
	for (size_t i = 0; i < n; i++)
		print_cells((const char *const *)rows[i].cells, widths, "");
	for (size_t i = 0; i < n; i++)
		if (rows[i].problem.code)
			cmd_warn("%s: %s", rows[i].id, rows[i].problem.message);
}

static int run_task_list(struct command_context *ctx)
{
	struct fh_error err = FH_ERROR_INIT;
	struct task_places places;
	struct list_row *rows;
	char **ids;
	size_t n = 0;

	if (task_options_places(ctx, &places, &err) < 0 || task_list(&places, &ids, &err) < 0)
		return cmd_refuse(&err);
	while (ids[n])
		n++;
	rows = xcalloc(n, sizeof(*rows));
	for (size_t i = 0; i < n; i++)
		rows[i] = make_row(&places, ids[i]);
	if (ctx->json)
		print_json(rows, n);
	else
		print_table(rows, n);
	for (size_t i = 0; i < n; i++)
		release_row(&rows[i]);
	free(rows);
	task_list_free(ids);
	return CMD_OK;
}

static const struct cmd_option options[] = {
	TASKS_DIR_OPTION,
	{},
};

const struct command command_task_list = {
	.name = "list",
	.summary = "what there is to play",
	.about = "Of a task's variants the first is the one that is played when none is named.",
	.options = options,
	.options_size = sizeof(struct task_options),
	.run = run_task_list,
};
