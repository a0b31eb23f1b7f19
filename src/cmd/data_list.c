/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/data_sets.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "cli/table.h"
#include "cli/term.h"

#include <stdio.h>

/*
 * fumehood data list: a line for each data set that a user may look for. Leaves out sets with only
 * hidden files and no folder of their own.
 */

enum data_column { DATA_ID, DATA_KIND, DATA_READY, DATA_NAME, N_DATA_COLUMNS };

static const char *const titles[N_DATA_COLUMNS] = { "data", "kind", "here", "name" };

#define DATA_LIST_CELL_COLUMNS 60

/* False if all files are hidden and the data set has no folder in <state>/data. Such a set has
 * programs of one task that another task uses, and no user looks for it. */
static bool data_list_is_data(const struct dataset *set)
{
	for (size_t i = 0; i < set->n_files; i++)
		if (!set->files[i].hidden)
			return true;
	return set->store != NULL;
}

static void data_list_print_json(const struct dataset *set)
{
	/* generated data counts as ready too: it can be generated at any time */
	bool ready = set->make || !dataset_missing(set);
	auto_json json_t *line = json_pack("{s:o, s:o, s:s, s:b, s:o, s:o}", "data",
			json_text(set->id), "name", json_text(set->name), "kind", data_kind(set),
			"ready", ready, "folder", json_text(set->dir), "how_to_get",
			json_text(ready ? NULL : set->how_to_get));

	cmd_print_json(line);
}

static void data_list_add(struct text_table *table, const struct dataset *set)
{
	const char *made = dataset_is_there(set) ? "yes" : "when first used";
	const char *there = set->make ? made : dataset_missing(set) ? "no" : "yes";
	struct table_row *row = table_add(table);

	row->cells[DATA_ID] = term_cell(set->id, DATA_LIST_CELL_COLUMNS);
	row->cells[DATA_KIND] = term_cell(data_kind(set), DATA_LIST_CELL_COLUMNS);
	row->cells[DATA_READY] = term_cell(there, DATA_LIST_CELL_COLUMNS);
	row->cells[DATA_NAME] = term_cell(set->name, DATA_LIST_CELL_COLUMNS);
}

static int data_list_main(struct command_context *ctx)
{
	const struct data_options *o = ctx->options;
	struct text_table table = {
		.titles = titles, .n_columns = N_DATA_COLUMNS, .n_left = N_DATA_COLUMNS
	};
	auto_buf struct buf text = BUF_INIT(1L << 24);
	struct fh_error err = FH_ERROR_INIT;
	int status = CMD_OK;
	char **ids;

	if (data_list(o->tasks_dir, &ids, &err) < 0)
		return cmd_refuse(&err);
	for (char **id = ids; *id; id++) {
		struct data_sets sets = { .n = 0 };

		if (data_find(ctx->arena, o->tasks_dir, *id, &sets, &err) < 0)
			status = cmd_refuse_subject(ctx, "data", *id, &err);
		else if (data_list_is_data(sets.items) && ctx->json)
			data_list_print_json(sets.items);
		else if (data_list_is_data(sets.items))
			data_list_add(&table, sets.items);
	}
	if (!ctx->json)
		table_print(&text, &table, term_colours(1));
	fputs(buf_str(&text), stdout);
	table_release(&table);
	xfree_strings(ids);
	return status;
}

static const struct cmd_option options[] = {
	DATA_TASKS_DIR_OPTION,
	{},
};

extern const struct command command_data_list;

const struct command command_data_list = {
	.name = "list",
	.summary = "list the data sets",
	.about = "Kinds: `made` on this machine when a task first uses it; `shipped` with the tasks; "
		 "`fetched` by `fumehood data fetch`; brought `by hand`.",
	.options = options,
	.options_size = sizeof(struct data_options),
	.run = data_list_main,
};
