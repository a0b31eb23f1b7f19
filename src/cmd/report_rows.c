/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_rows.h"

#include "cli/cmd.h"
#include "report/index.h"

/* The runs that `fumehood report` and `fumehood export` take. */

#define WARNED_MAX 10 /* records with a problem that are named */

int report_rows_read(struct command_context *ctx, const char *tasks_dir, struct run_rows *out,
		struct fh_error *err)
{
	for (size_t i = 0; i < ctx->n_args; i++) {
		auto_run_index struct run_index *ix = NULL;
		struct run_index_news news;
		int r = run_index_open(ctx->args[i], tasks_dir, &ix, err);

		if (r < 0)
			return r;
		r = run_index_update(ix, &news, err);
		if (r < 0)
			return r;
		r = run_index_rows(ix, ctx->arena, out, err);
		if (r < 0)
			return r;
	}
	return 0;
}

size_t report_rows_warn(const struct run_rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (!rows->items[i].problem)
			continue;
		if (n++ < WARNED_MAX)
			cmd_warn("a record is left out: %s", rows->items[i].problem);
	}
	if (n > WARNED_MAX)
		cmd_warn("%zu more records are left out", n - WARNED_MAX);
	return n;
}
