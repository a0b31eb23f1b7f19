/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_spread.h"

#include "base/mem.h"
#include "base/moments.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/table.h"
#include "cmd/run_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Compares models: mean and deviation of the best scores, for each task and model. */

enum spread_column {
	SPREAD_TASK,
	SPREAD_MODEL,
	SPREAD_RUNS,
	SPREAD_BASELINE,
	SPREAD_MEAN,
	SPREAD_DEVIATION,
	SPREAD_BEST,
	SPREAD_COST,
	N_SPREAD_COLUMNS
};

static const char *const titles[N_SPREAD_COLUMNS] = { "Task", "Model", "Runs", "Baseline", "Mean",
	"Std", "Best", "Cost" };

struct group {
	char *task;
	const char *model;
	/* agent configuration that the model follows; NULL: the model follows none */
	const struct run_agent *agent;
	bool maximize;
	double baseline, best, cost;
	bool is_free; /* a call had a price, and all prices were 0 */
	struct moments scores;
	size_t runs;
};

static struct group *run_spread_group_of(struct group *groups, size_t *n, const struct episode *e)
{
	auto_free char *task = run_report_task(e);

	for (size_t i = 0; i < *n; i++)
		if (str_eq(groups[i].task, task) && str_eq(groups[i].model, e->plan.model) &&
				groups[i].agent == e->plan.agent)
			return &groups[i];
	groups[*n] = (struct group){ .task = take_ptr(task),
		.model = e->plan.model,
		.agent = e->plan.agent,
		.maximize = e->scores.maximize,
		.baseline = e->scores.baseline_value,
		.best = NAN };
	return &groups[(*n)++];
}

static void run_spread_add(struct group *g, const struct episode *e)
{
	double v = run_report_result(e);

	g->runs++;
	g->cost += e->stats.cost;
	g->is_free |= e->stats.calls > e->stats.unpriced;
	if (isnan(v))
		return;
	moments_add(&g->scores, v);
	if (isnan(g->best) || (g->maximize ? v > g->best : v < g->best))
		g->best = v;
}

static void run_spread_add_row(struct text_table *table, const struct group *g)
{
	char **cells = table_add(table)->cells;

	cells[SPREAD_TASK] = xstrdup(g->task);
	cells[SPREAD_MODEL] = g->agent ? xasprintf("%s (%s, t %g)", g->model, g->agent->name,
							 g->agent->options.temperature)
				       : xstrdup(g->model);
	cells[SPREAD_RUNS] = g->scores.n == g->runs
			? xasprintf("%zu", g->runs)
			: xasprintf("%zu (%zu scored)", g->runs, g->scores.n);
	cells[SPREAD_BASELINE] = run_report_number(g->baseline);
	cells[SPREAD_MEAN] = run_report_number(g->scores.n ? g->scores.mean : NAN);
	cells[SPREAD_DEVIATION] = run_report_number(moments_deviation(&g->scores));
	cells[SPREAD_BEST] = run_report_number(g->best);
	cells[SPREAD_COST] = g->cost > 0 || g->is_free ? xasprintf("$%.4f", g->cost) : xstrdup("-");
}

void run_spread_table(struct buf *out, const struct episode *episodes, size_t n, bool colours)
{
	struct text_table table = { titles, N_SPREAD_COLUMNS, SPREAD_RUNS, NULL, 0 };
	struct group *groups = xcalloc(n + 1, sizeof(*groups));
	size_t n_groups = 0;
	bool several = false;

	for (size_t i = 0; i < n; i++)
		if (episode_was_begun(&episodes[i]))
			run_spread_add(run_spread_group_of(groups, &n_groups, &episodes[i]),
					&episodes[i]);
	for (size_t i = 0; i < n_groups; i++) {
		run_spread_add_row(&table, &groups[i]);
		several = several || groups[i].runs > 1 ||
				!str_eq(groups[i].model, groups[0].model) ||
				groups[i].agent != groups[0].agent;
		free(groups[i].task);
	}
	if (several) {
		buf_add_char(out, '\n');
		table_print(out, &table, colours);
	}
	table_release(&table);
	free(groups);
}
