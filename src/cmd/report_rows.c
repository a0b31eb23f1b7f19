/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_rows.h"

#include "base/str.h"
#include "cli/cmd.h"
#include "cmd/run_folders.h"
#include "report/index.h"

/* The runs that `fumehood report` and `fumehood export` take. */

#define WARNED_MAX 10 /* most records that warnings of a kind name; others are counted */

int report_rows_read(struct command_context *ctx, const char *tasks_dir, struct run_rows *out,
		struct fh_error *err)
{
	struct texts folders = run_folders_once(ctx->arena, ctx->args, ctx->n_args);

	for (size_t i = 0; i < folders.n; i++) {
		auto_run_index struct run_index *ix = NULL;
		int r = run_index_open(folders.items[i], tasks_dir, &ix, err);

		if (r < 0)
			return r;
		r = run_index_update(ix, -1, err);
		if (r < 0)
			return r;
		r = run_index_rows(ix, ctx->arena, out, err);
		if (r < 0)
			return r;
	}
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
