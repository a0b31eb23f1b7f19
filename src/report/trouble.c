/* SPDX-License-Identifier: Apache-2.0 */
#include "report/trouble.h"

#include "base/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rank of a run: the higher, the earlier it is listed. 0: nothing is wrong. */
static int64_t trouble_rank(const struct run_row *row)
{
	int64_t rank = 0;

	rank += row->integrity > 0 ? 64 : 0;
	rank += row->damage ? 32 : 0;
	rank += row->helped > 0 ? 16 : 0;
	rank += row->complete == 0 ? 8 : 0;
	rank += isnan(row->best) ? 4 : 0;
	rank += row->refused > 0 ? 2 : 0;
	rank += row->timeouts > 0 || row->format_errors > 0;
	return rank;
}

static int trouble_compare(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a,
			     *y = *(const struct run_row *const *)b;
	int64_t rank_x = trouble_rank(x), rank_y = trouble_rank(y);

	return rank_x != rank_y ? (rank_x < rank_y) - (rank_x > rank_y) : strcmp(x->path, y->path);
}

static void trouble_put(struct buf *out, const char *what, int64_t n)
{
	if (n > 0)
		buf_printf(out, "%s%s %lld", out->len ? ", " : "", what, (long long)n);
}

/* Names what is wrong with a run, the worst first. */
static const char *trouble_text(struct arena *a, const struct run_row *row)
{
	auto_buf struct buf out = BUF_INIT(1024);

	trouble_put(&out, "integrity", row->integrity);
	if (row->damage)
		buf_printf(&out, "%sdamaged record", out.len ? ", " : "");
	trouble_put(&out, "scores read from observations", row->told);
	trouble_put(&out, "helped by a person", row->helped);
	if (row->complete == 0)
		buf_printf(&out, "%s%s", out.len ? ", " : "",
				row->exit_status && *row->exit_status ? row->exit_status
								      : "killed or going on");
	if (isnan(row->best))
		buf_printf(&out, "%sno score", out.len ? ", " : "");
	trouble_put(&out, "refused", row->refused);
	trouble_put(&out, "timeouts", row->timeouts);
	trouble_put(&out, "format errors", row->format_errors);
	trouble_put(&out, "failed", row->failed);
	return arena_strdup(a, buf_str(&out));
}

static void trouble_add(const struct report *r, struct report_table *t, const struct run_row *row)
{
	struct cell *cells = table_add_row(r->doc, t);
	const char *file = strrchr(row->path, '/');

	cells[0] = cell_text(trouble_text(r->doc->arena, row));
	cells[1] = cell_text(row->task);
	cells[2] = cell_text(row->model);
	cells[3] = cell_number(r->doc, row->best, 3);
	cells[4] = cell_text(file && str_eq(file, "/events.jsonl")
					? arena_strndup(r->doc->arena, row->path,
							  (size_t)(file - row->path))
					: row->path);
	cells[4].record = row->path;
}

void trouble_table(const struct report *r, size_t most)
{
	static const char *const columns[] = { "What", "Task", "Model", "Best score", "Run", NULL };
	const struct run_row **runs =
			arena_array(r->doc->arena, r->n_runs + 1, sizeof(const struct run_row *));
	struct report_table *t;
	size_t n = 0;

	for (size_t i = 0; i < r->n_runs; i++)
		if (trouble_rank(r->runs[i]) > 0)
			runs[n++] = r->runs[i];
	if (!n)
		return;
	qsort(runs, n, sizeof(const struct run_row *), trouble_compare);
	t = doc_add(r->doc, "troubles", "Runs to look at",
			n > most ? arena_printf(r->doc->arena,
						   "The %zu worst of %zu runs with signs of "
						   "tampering, a damaged record, a person's "
						   "help, an early end, no score, or errors.",
						   most, n)
				 : "Runs with signs of tampering, a damaged record, a "
				   "person's help, an early end, no score, or errors. The "
				   "worst come first.",
			columns);
	for (size_t i = 0; i < n && i < most; i++)
		trouble_add(r, t, runs[i]);
}
