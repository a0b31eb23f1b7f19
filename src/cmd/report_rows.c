/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_rows.h"

#include "base/str.h"
#include "cli/cmd.h"
#include "report/index.h"

#include <stdlib.h>
#include <string.h>

/* The runs that `fumehood report` and `fumehood export` take. */

#define WARNED_MAX 10 /* most records that warnings of a kind name; others are counted */

static int report_rows_compare(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a;
	const struct run_row *y = *(const struct run_row *const *)b;
	int order = strcmp(x->path, y->path);

	return order ? order : (x > y) - (x < y);
}

/* Folders may overlap: a record counts once. */
static void report_rows_drop_twins(struct arena *a, struct run_rows *rows)
{
	struct run_row **sorted = arena_array(a, rows->n + 1, sizeof(struct run_row *));
	bool *twin = arena_array(a, rows->n + 1, sizeof(*twin));
	size_t kept = 0;

	for (size_t i = 0; i < rows->n; i++)
		sorted[i] = &rows->items[i];
	if (rows->n)
		qsort(sorted, rows->n, sizeof(struct run_row *), report_rows_compare);
	for (size_t i = 1; i < rows->n; i++)
		twin[sorted[i] - rows->items] = str_eq(sorted[i]->path, sorted[i - 1]->path);
	for (size_t i = 0; i < rows->n; i++)
		if (!twin[i])
			rows->items[kept++] = rows->items[i];
	rows->n = kept;
}

int report_rows_read(struct command_context *ctx, const char *tasks_dir, struct run_rows *out,
		struct fh_error *err)
{
	for (size_t i = 0; i < ctx->n_args; i++) {
		auto_run_index struct run_index *ix = NULL;
		int r = run_index_open(ctx->args[i], tasks_dir, &ix, err);

		if (r < 0)
			return r;
		r = run_index_update(ix, err);
		if (r < 0)
			return r;
		r = run_index_rows(ix, ctx->arena, out, err);
		if (r < 0)
			return r;
	}
	if (ctx->n_args > 1)
		report_rows_drop_twins(ctx->arena, out);
	return 0;
}

void report_rows_warn(const struct run_rows *rows, bool whole)
{
	size_t left_out = 0, damaged = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const char *damage = rows->items[i].damage, *problem = rows->items[i].problem;

		if (whole && damage)
			problem = damage;
		if (problem && left_out++ < WARNED_MAX)
			cmd_warn("a record is left out: %s", problem);
		else if (!problem && damage && damaged++ < WARNED_MAX)
			cmd_warn("a record is damaged, the rest counts: %s", damage);
	}
	if (left_out > WARNED_MAX)
		cmd_warn("%zu more records are left out", left_out - WARNED_MAX);
	if (damaged > WARNED_MAX)
		cmd_warn("%zu more records are damaged", damaged - WARNED_MAX);
}
