/* SPDX-License-Identifier: Apache-2.0 */
#include "report/spread.h"

#include "report/curve.h"
#include "report/scale.h"
#include "report/stats.h"

#include <math.h>

#define SPREAD_NAMES_BYTES 400 /* most bytes of the list of tasks in a note */

/* --- means over tasks ------------------------------------------------------------------------- */

/* Collects the normalised scores of a model. */
static struct strata spread_strata(const struct report *r, size_t model)
{
	struct arena *a = r->doc->arena;
	struct strata s = { .begin = arena_array(a, r->n_tasks + 1, sizeof(size_t)) };
	size_t n = 0;

	s.values = arena_array(a, r->n_runs + 1, sizeof(double));
	for (size_t task = 0; task < r->n_tasks; task++) {
		const struct report_cell *cell = report_at(r, task, model);
		double scale = scale_of(r, task);

		if (isnan(scale) || !cell->n)
			continue;
		for (size_t i = 0; i < cell->n; i++)
			s.values[n++] = scale_score(r, task, scale, cell->runs[i]->best);
		s.begin[++s.n_tasks] = n;
	}
	return s;
}

/* Mean cost of a model's runs. NAN: no run tells. */
static double spread_mean_cost(const struct report *r, size_t model)
{
	double sum = 0;
	size_t n = 0;

	for (size_t task = 0; task < r->n_tasks; task++)
		for (size_t i = 0; i < report_at(r, task, model)->n; i++)
			if (!isnan(report_at(r, task, model)->runs[i]->cost)) {
				sum += report_at(r, task, model)->runs[i]->cost;
				n++;
			}
	return n ? sum / (double)n : NAN;
}

/* Draws the table `iqm`: costs against scores, of the models whose costs are known. */
static void spread_add_points(const struct report *r, struct report_table *t)
{
	struct arena *a = r->doc->arena;
	struct chart_line *lines = arena_array(a, r->models.n, sizeof(*lines));
	double *costs = arena_array(a, r->models.n + 1, sizeof(double));
	size_t n_costs = 0, n = 0;

	for (size_t m = 0; m < r->models.n; m++) {
		struct chart_line *line = &lines[n];
		double cost = spread_mean_cost(r, m);

		if (isnan(cost))
			continue;
		n++;
		*line = (struct chart_line){ .name = r->models.items[m],
			.x = arena_array(a, 1, sizeof(double)),
			.y = arena_array(a, 1, sizeof(double)),
			.n = 1 };
		line->x[0] = cost;
		line->y[0] = t->cells[m * t->n_columns + 1].value;
		if (cost > 0)
			costs[n_costs++] = cost;
	}
	if (!n_costs)
		return;
	t->chart = arena_alloc(a, sizeof(*t->chart));
	*t->chart = (struct chart){ .kind = CHART_POINTS,
		.x_title = "mean cost of a run, $",
		.y_title = "IQM",
		.lines = lines,
		.n_lines = n,
		.x_high = stats_reach(costs, n_costs) };
}

static void spread_iqm(const struct report *r)
{
	static const char *const columns[] = { "Model", "IQM", "Low", "High", "Tasks", "Runs",
		"Mean $", NULL };
	struct report_doc *doc = r->doc;
	struct report_table *t = doc_add(doc, "iqm", "Interquartile mean over tasks",
			"Scores are normalised: 0 is the baseline, 1 the best of all runs. A run without "
			"a score counts as 0. Low and high are a 95 % stratified bootstrap interval.",
			columns);

	for (size_t m = 0; m < r->models.n; m++) {
		struct strata s = spread_strata(r, m);
		struct interval interval = stats_iqm_interval(&s);
		struct cell *cells = table_add_row(doc, t);

		cells[0] = cell_text(r->models.items[m]);
		cells[1] = cell_number(doc, stats_iqm(s.values, s.begin[s.n_tasks]), 3);
		cells[2] = cell_number(doc, interval.low, 3);
		cells[3] = cell_number(doc, interval.high, 3);
		cells[4] = cell_count(doc, (double)s.n_tasks);
		cells[5] = cell_count(doc, (double)s.begin[s.n_tasks]);
		cells[6] = report_cost_cell(r, m, spread_mean_cost(r, m), 3);
	}
	spread_add_points(r, t);
}

/* --- spread of each cell ---------------------------------------------------------------------- */

/* With few runs the values themselves tell more than an interval. */
static const char *spread_values(struct report_doc *doc, const double *values, size_t n)
{
	auto_buf struct buf out = BUF_INIT(1024);

	for (size_t i = 0; n < STATS_RUNS_MIN && i < n; i++)
		buf_printf(&out, "%s%s", i ? " " : "", cell_number(doc, values[i], 3).text);
	return arena_strdup(doc->arena, buf_str(&out));
}

static void spread_add_cell(
		const struct report *r, struct report_table *t, size_t task, size_t model)
{
	const struct report_cell *cell = report_at(r, task, model);
	struct report_doc *doc = r->doc;
	double *values = arena_array(doc->arena, cell->n + 1, sizeof(double)), sum = 0;
	struct strata s = { .values = values, .begin = (size_t[]){ 0, 0 }, .n_tasks = 1 };
	struct interval interval;
	struct cell *cells;
	size_t n = 0;

	for (size_t i = 0; i < cell->n; i++)
		if (!isnan(cell->runs[i]->best)) {
			values[n++] = cell->runs[i]->best;
			sum += cell->runs[i]->best;
		}
	if (!cell->n)
		return;
	s.begin[1] = n;
	interval = stats_iqm_interval(&s);
	stats_sort(values, n);
	cells = table_add_row(doc, t);
	cells[0] = cell_text(r->tasks[task].name);
	cells[1] = cell_text(r->models.items[model]);
	cells[2] = cell_count(doc, (double)cell->n);
	cells[3] = cell_count(doc, (double)n);
	cells[4] = cell_number(doc, n ? sum / (double)n : NAN, 3);
	cells[5] = cell_number(doc, stats_iqm(values, n), 3);
	cells[6] = cell_number(doc, interval.low, 3);
	cells[7] = cell_number(doc, interval.high, 3);
	cells[8] = cell_text(spread_values(doc, values, n));
}

static void spread_cells(const struct report *r)
{
	static const char *const columns[] = { "Task", "Model", "Runs", "Scored", "Mean", "IQM",
		"Low", "High", "Values", NULL };
	struct report_table *t = doc_add(r->doc, "spread", "Spread over runs",
			"Best scores of runs. Low and high are a 95 % bootstrap interval of the IQM. "
			"With fewer than 8 scored runs the values stand there instead.",
			columns);

	t->n_keys = 2;
	for (size_t task = 0; task < r->n_tasks; task++)
		for (size_t m = 0; m < r->models.n; m++)
			spread_add_cell(r, t, task, m);
}

/* False if no run beat the baseline of its task, so that no score can be normalised. */
static bool spread_is_scaled(const struct report *r)
{
	for (size_t task = 0; task < r->n_tasks; task++)
		if (!isnan(scale_of(r, task)))
			return true;
	return false;
}

static bool spread_is_scored(const struct report *r)
{
	for (size_t i = 0; i < r->n_runs; i++)
		if (!isnan(r->runs[i]->best))
			return true;
	return false;
}

/* True if each model has runs of a task. */
static bool spread_is_common(const struct report *r, size_t task)
{
	for (size_t m = 0; m < r->models.n; m++)
		if (!report_at(r, task, m)->n)
			return false;
	return true;
}

/* Says that models were run on different tasks, and how to compare them on the same ones. */
static void spread_note_tasks(const struct report *r)
{
	auto_buf struct buf names = BUF_INIT(SPREAD_NAMES_BYTES);
	size_t common = 0;

	for (size_t task = 0; task < r->n_tasks; task++)
		if (spread_is_common(r, task))
			buf_printf(&names, "%s%s", common++ ? "," : "", r->tasks[task].name);
	if (common == r->n_tasks)
		return;
	if (!common)
		doc_note(r->doc,
				"No task has runs of all models, so means and sums over tasks can't "
				"be compared.");
	else
		doc_note(r->doc,
				"Only %zu of %zu tasks have runs of all models, so means and sums over "
				"tasks can't be compared. This command compares them on those: "
				"fumehood report --task %s",
				common, r->n_tasks, names.truncated ? "NAME,..." : buf_str(&names));
}

void spread_tables(const struct report *r)
{
	if (!r->n_runs)
		return;
	spread_note_tasks(r);
	spread_iqm(r);
	spread_cells(r);
	if (!spread_is_scaled(r)) {
		if (spread_is_scored(r))
			doc_note(r->doc,
					"No run beat its task's baseline, so no score is "
					"normalised.");
		return;
	}
	curve_add(r, AXIS_STEPS);
	curve_add(r, AXIS_COST);
}
