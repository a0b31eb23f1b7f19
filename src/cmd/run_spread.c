/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/term.h"
#include "cmd/run_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scores over runs: a line for each task and model, its best scores' mean and spread beside the baseline. */

enum spread_column { TASK, MODEL, RUNS, BASELINE, MEAN, DEVIATION, BEST, COST, N_COLUMNS };

static const char *const titles[N_COLUMNS] = { "Task", "Model", "Runs", "Baseline", "Mean", "Std",
	"Best", "Cost" };

struct group {
	char *task;
	const char *model;
	const struct run_agent *agent; /* NULL: no language model */
	bool maximize;
	double baseline, best, cost;
	double mean, squares; /* of the differences from it, summed up */
	size_t runs, scored;
};

static struct group *group_of(struct group *groups, size_t *n, const struct episode *e)
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

static void add(struct group *g, const struct episode *e)
{
	double v = run_report_result(e), before;

	g->runs++;
	g->cost += e->stats.cost;
	if (isnan(v))
		return;
	g->scored++;
	/* As Welford does, so that equal scores differ by nothing. */
	before = v - g->mean;
	g->mean += before / (double)g->scored;
	g->squares += before * (v - g->mean);
	if (isnan(g->best) || (g->maximize ? v > g->best : v < g->best))
		g->best = v;
}

/* Of the runs as a sample: divided by one less than there are. */
static double deviation(const struct group *g)
{
	return g->scored < 2 ? NAN : sqrt(g->squares / (double)(g->scored - 1));
}

static char *number(double v)
{
	return isnan(v) ? xstrdup("-") : xasprintf("%.5g", v);
}

static void fill(const struct group *g, char **cells)
{
	cells[TASK] = xstrdup(g->task);
	cells[MODEL] = g->agent ? xasprintf("%s (%s, t %g)", g->model, g->agent->name,
						  g->agent->options.temperature)
				: xstrdup(g->model);
	cells[RUNS] = g->scored == g->runs ? xasprintf("%zu", g->runs)
					   : xasprintf("%zu (%zu scored)", g->runs, g->scored);
	cells[BASELINE] = number(g->baseline);
	cells[MEAN] = number(g->scored ? g->mean : NAN);
	cells[DEVIATION] = number(deviation(g));
	cells[BEST] = number(g->best);
	cells[COST] = g->cost > 0 ? xasprintf("$%.4f", g->cost) : xstrdup("-");
}

static void add_line(struct buf *out, const char *const *cells, const int *widths)
{
	for (int c = 0; c < N_COLUMNS; c++) {
		if (c)
			buf_add_str(out, "  ");
		if (c > MODEL)
			term_add_pad(out, term_columns(cells[c]), widths[c]);
		buf_add_str(out, cells[c]);
		if (c <= MODEL)
			term_add_pad(out, term_columns(cells[c]), widths[c]);
	}
	buf_add_char(out, '\n');
}

static void add_table(struct buf *out, const struct group *groups, size_t n, bool colours)
{
	char *(*rows)[N_COLUMNS] = xcalloc(n, sizeof(*rows));
	int widths[N_COLUMNS] = { 0 };

	term_widen(widths, titles, N_COLUMNS);
	for (size_t i = 0; i < n; i++) {
		fill(&groups[i], rows[i]);
		term_widen(widths, (const char *const *)rows[i], N_COLUMNS);
	}
	buf_add_str(out, term_style(colours, TERM_BOLD));
	add_line(out, titles, widths);
	buf_add_str(out, term_style(colours, TERM_RESET));
	for (size_t i = 0; i < n; i++) {
		add_line(out, (const char *const *)rows[i], widths);
		for (int c = 0; c < N_COLUMNS; c++)
			free(rows[i][c]);
	}
	free(rows);
}

void run_report_spread(struct buf *out, const struct episode *episodes, size_t n, bool colours)
{
	struct group *groups = xcalloc(n + 1, sizeof(*groups));
	size_t n_groups = 0;
	bool several = false;

	for (size_t i = 0; i < n; i++)
		if (episode_was_begun(&episodes[i]))
			add(group_of(groups, &n_groups, &episodes[i]), &episodes[i]);
	for (size_t i = 0; i < n_groups; i++)
		several = several || groups[i].runs > 1 ||
				!str_eq(groups[i].model, groups[0].model) ||
				groups[i].agent != groups[0].agent;
	if (several) {
		buf_add_char(out, '\n');
		add_table(out, groups, n_groups, colours);
	}
	for (size_t i = 0; i < n_groups; i++)
		free(groups[i].task);
	free(groups);
}
