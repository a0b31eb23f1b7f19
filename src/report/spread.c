/* SPDX-License-Identifier: Apache-2.0 */
#include "report/spread.h"

#include "report/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRID 20                /* most points of a curve over steps or cost */
#define SPREAD_NAMES_BYTES 400 /* most bytes of the models that an error names */

/* --- normalised scores ------------------------------------------------------------------------ */

/* Best score of all runs of a task. NAN: none. */
static double spread_best(const struct report *r, size_t task)
{
	double best = NAN;

	for (size_t m = 0; m < r->models.n; m++) {
		double score = report_at(r, task, m)->best[SCORE_ATTEMPT];

		if (report_is_better(&r->tasks[task], score, best))
			best = score;
	}
	return best;
}

/* Number that makes 1 of the best score and 0 of the baseline. NAN: the task has no such scale. */
static double spread_scale(const struct report *r, size_t task)
{
	double scale = spread_best(r, task) - r->tasks[task].baseline;

	return report_is_better(&r->tasks[task], spread_best(r, task), r->tasks[task].baseline) &&
					isfinite(scale)
			? scale
			: NAN;
}

/* A run without a score counts as the baseline: it gained nothing. */
static double spread_normal(const struct report *r, size_t task, double scale, double score)
{
	return isnan(score) ? 0 : (score - r->tasks[task].baseline) / scale;
}

/* Collects the normalised scores of a model. */
static struct strata spread_strata(const struct report *r, size_t model)
{
	struct arena *a = r->doc->arena;
	struct strata s = { .begin = arena_array(a, r->n_tasks + 1, sizeof(size_t)) };
	size_t n = 0;

	s.values = arena_array(a, r->n_runs + 1, sizeof(double));
	for (size_t task = 0; task < r->n_tasks; task++) {
		const struct report_cell *cell = report_at(r, task, model);
		double scale = spread_scale(r, task);

		if (isnan(scale) || !cell->n)
			continue;
		for (size_t i = 0; i < cell->n; i++)
			s.values[n++] = spread_normal(r, task, scale, cell->runs[i]->best);
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

/* Draws the table `iqm`: costs against scores. */
static void spread_add_points(const struct report *r, struct report_table *t)
{
	struct arena *a = r->doc->arena;
	struct chart_line *lines = arena_array(a, r->models.n, sizeof(*lines));
	bool paid = false;

	for (size_t m = 0; m < r->models.n; m++) {
		lines[m] = (struct chart_line){ .name = r->models.items[m],
			.x = arena_array(a, 1, sizeof(double)),
			.y = arena_array(a, 1, sizeof(double)),
			.n = 1 };
		lines[m].x[0] = spread_mean_cost(r, m);
		lines[m].y[0] = t->cells[m * t->n_columns + 1].value;
		paid = paid || lines[m].x[0] > 0;
	}
	if (!paid)
		return;
	t->chart = arena_alloc(a, sizeof(*t->chart));
	*t->chart = (struct chart){ .kind = CHART_POINTS,
		.x_title = "mean cost of a run, $",
		.y_title = "IQM",
		.lines = lines,
		.n_lines = r->models.n };
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
		cells[6] = cell_number(doc, spread_mean_cost(r, m), 3);
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

/* --- scores over steps and cost --------------------------------------------------------------- */

enum axis { AXIS_STEPS, AXIS_COST };

/* Reads the next line of `points`. Returns false at the end. */
static bool spread_point(const char **at, double *step, double *score, double *cost)
{
	char *end;

	if (!*at || !**at)
		return false;
	*step = strtod(*at, &end);
	*score = strtod(end, &end);
	*cost = strtod(end, &end);
	if (*end == ' ' && end[1] == '-')
		*cost = NAN;
	end = strchr(end, '\n');
	*at = end ? end + 1 : NULL;
	return true;
}

/* Best score of a run up to x on the axis. NAN: none so far. */
static double spread_until(
		const struct report_task *task, const struct run_row *row, enum axis axis, double x)
{
	const char *at = row->points;
	double step, score, cost, best = NAN;

	while (spread_point(&at, &step, &score, &cost)) {
		double where = axis == AXIS_STEPS ? step : cost;

		if (where <= x && report_is_better(task, score, best))
			best = score;
	}
	return best;
}

static bool spread_has_axis(const struct run_row *row, enum axis axis)
{
	return axis == AXIS_STEPS ? row->steps > 0 : !isnan(row->cost) && row->cost > 0;
}

static double spread_longest(const struct report *r, enum axis axis)
{
	double most = 0;

	for (size_t i = 0; i < r->n_runs; i++)
		if (spread_has_axis(r->runs[i], axis))
			most = fmax(most,
					axis == AXIS_STEPS ? (double)r->runs[i]->steps
							   : r->runs[i]->cost);
	return most;
}

/* Collects the normalised scores that a model's runs have reached at x. Returns how many. */
static size_t spread_reached(
		const struct report *r, size_t model, enum axis axis, double x, double *values)
{
	size_t n = 0;

	for (size_t task = 0; task < r->n_tasks; task++) {
		const struct report_cell *cell = report_at(r, task, model);
		double scale = spread_scale(r, task);

		for (size_t i = 0; !isnan(scale) && i < cell->n; i++)
			if (spread_has_axis(cell->runs[i], axis))
				values[n++] = spread_normal(r, task, scale,
						spread_until(&r->tasks[task], cell->runs[i], axis,
								x));
	}
	return n;
}

/* False if no run beat the baseline of its task, so that no score can be normalised. */
static bool spread_is_scaled(const struct report *r)
{
	for (size_t task = 0; task < r->n_tasks; task++)
		if (!isnan(spread_scale(r, task)))
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

static void spread_over(const struct report *r, enum axis axis)
{
	struct report_doc *doc = r->doc;
	double most = spread_longest(r, axis), *values, *grid;
	size_t n_grid = axis == AXIS_STEPS && most < GRID ? (size_t)most : GRID;
	struct chart *chart = arena_alloc(doc->arena, sizeof(*chart));
	struct chart_line *lines = arena_array(doc->arena, r->models.n, sizeof(*lines));
	struct report_table *t;

	if (!(most > 0))
		return;
	values = arena_array(doc->arena, r->n_runs + 1, sizeof(double));
	grid = arena_array(doc->arena, n_grid, sizeof(double));
	t = doc_add_named(doc, axis == AXIS_STEPS ? "over-steps" : "over-cost",
			axis == AXIS_STEPS ? "Score over steps" : "Score over cost",
			"Interquartile mean of the best normalised scores so far. The band of the "
			"picture is the middle half of the runs. A run that has ended keeps its score.",
			axis == AXIS_STEPS ? "Steps" : "$", &r->models);
	for (size_t g = 0; g < n_grid; g++) {
		struct cell *cells = table_add_row(doc, t);

		grid[g] = most * (double)(g + 1) / (double)n_grid;
		if (axis == AXIS_STEPS)
			grid[g] = ceil(grid[g]);
		cells[0] = axis == AXIS_STEPS ? cell_count(doc, grid[g])
					      : cell_small(doc, grid[g], 3);
		for (size_t m = 0; m < r->models.n; m++) {
			size_t n = spread_reached(r, m, axis, grid[g], values);
			struct chart_line *line = &lines[m];
			double *y, *low, *high;

			if (!line->y)
				*line = (struct chart_line){ .name = r->models.items[m],
					.x = grid,
					.y = arena_array(doc->arena, n_grid, sizeof(double)),
					.low = arena_array(doc->arena, n_grid, sizeof(double)),
					.high = arena_array(doc->arena, n_grid, sizeof(double)),
					.n = n_grid };
			y = line->y, low = line->low, high = line->high;
			y[g] = stats_iqm(values, n);
			low[g] = n ? stats_quantile(values, n, 0.25) : NAN;
			high[g] = n ? stats_quantile(values, n, 0.75) : NAN;
			cells[m + 1] = cell_number(doc, y[g], 3);
		}
	}
	*chart = (struct chart){ .kind = CHART_LINES,
		.x_title = axis == AXIS_STEPS ? "steps" : "dollars of a run",
		.y_title = "normalised score",
		.lines = lines,
		.n_lines = r->models.n };
	t->chart = chart;
}

void spread_tables(const struct report *r)
{
	if (!r->n_runs)
		return;
	spread_iqm(r);
	spread_cells(r);
	if (!spread_is_scaled(r)) {
		if (spread_is_scored(r))
			doc_note(r->doc,
					"No run beat its task's baseline, so no score is "
					"normalised.");
		return;
	}
	spread_over(r, AXIS_STEPS);
	spread_over(r, AXIS_COST);
}

/* --- comparing two models --------------------------------------------------------------------- */

static int spread_find(const struct report *r, const char *name, size_t *out, struct fh_error *err)
{
	auto_buf struct buf models = BUF_INIT(SPREAD_NAMES_BYTES);

	for (size_t m = 0; m < r->models.n; m++) {
		if (str_eq(r->models.items[m], name)) {
			*out = m;
			return 0;
		}
		buf_printf(&models, "%s'%s'", m ? ", " : "", r->models.items[m]);
	}
	return error_say(err, ENOENT,
			"--compare: there are no runs of a model '%s'; there are %s%s", name,
			buf_str(&models), models.truncated ? "..." : "");
}

/* Appends the scores of a cell, turned so that more is better. No score is worse than any. */
static void spread_add_scores(const struct report *r, struct strata *s, size_t task, size_t model)
{
	const struct report_cell *cell = report_at(r, task, model);
	size_t n = s->begin[s->n_tasks];

	for (size_t i = 0; i < cell->n; i++) {
		double score = cell->runs[i]->best;

		s->values[n++] = isnan(score)             ? -HUGE_VAL
				: r->tasks[task].maximize ? score
							  : -score;
	}
	s->begin[++s->n_tasks] = n;
}

static struct strata spread_new_strata(const struct report *r)
{
	return (struct strata){ .values = arena_array(r->doc->arena, r->n_runs + 1, sizeof(double)),
		.begin = arena_array(r->doc->arena, r->n_tasks + 1, sizeof(size_t)) };
}

static void spread_add_result(const struct report *r, const struct strata *x,
		const struct strata *y, const double *differences)
{
	static const char *const columns[] = { "What", "Value", "Low", "High", NULL };
	struct report_doc *doc = r->doc;
	struct interval interval = stats_improvement_interval(x, y);
	struct report_table *t = doc_add(doc, "compare-total", "Comparison over tasks",
			"The permutation test is paired by task and two-sided. It tests the tasks' "
			"probabilities of improvement against one half.",
			columns);
	struct cell *cells = table_add_row(doc, t);

	cells[0] = cell_text("probability of improvement");
	cells[1] = cell_number(doc, stats_mean_improvement(x, y), 3);
	cells[2] = cell_number(doc, interval.low, 3);
	cells[3] = cell_number(doc, interval.high, 3);
	cells = table_add_row(doc, t);
	cells[0] = cell_text("p-value of the permutation test");
	cells[1] = cell_number(doc, stats_permutation(differences, x->n_tasks), 4);
}

int spread_compare(const struct report *r, const char *a, const char *b, struct fh_error *err)
{
	static const char *const columns[] = { "Task", "Runs of A", "Runs of B", "Best of A",
		"Best of B", "P(A better)", NULL };
	struct report_doc *doc = r->doc;
	struct strata x = spread_new_strata(r), y = spread_new_strata(r);
	double *differences = arena_array(doc->arena, r->n_tasks + 1, sizeof(double));
	struct report_table *t;
	size_t of_a = 0, of_b = 0;
	int n = spread_find(r, a, &of_a, err);

	if (n < 0)
		return n;
	n = spread_find(r, b, &of_b, err);
	if (n < 0)
		return n;
	t = doc_add(doc, "compare", arena_printf(doc->arena, "A = %s, B = %s", a, b),
			"Probability that a run of A scores better than a run of B. Equal scores count "
			"half. No score is worse than any.",
			columns);
	for (size_t task = 0; task < r->n_tasks; task++) {
		const struct report_cell *in_a = report_at(r, task, of_a),
					 *in_b = report_at(r, task, of_b);
		size_t k = x.n_tasks;
		struct cell *cells;
		double p;

		if (!in_a->n || !in_b->n)
			continue;
		spread_add_scores(r, &x, task, of_a);
		spread_add_scores(r, &y, task, of_b);
		p = stats_improvement(
				x.values + x.begin[k], in_a->n, y.values + y.begin[k], in_b->n);
		differences[k] = p - 0.5;
		cells = table_add_row(doc, t);
		cells[0] = cell_text(r->tasks[task].name);
		cells[1] = cell_count(doc, (double)in_a->n);
		cells[2] = cell_count(doc, (double)in_b->n);
		cells[3] = cell_number(doc, in_a->best[SCORE_ATTEMPT], 3);
		cells[4] = cell_number(doc, in_b->best[SCORE_ATTEMPT], 3);
		cells[5] = cell_number(doc, p, 3);
	}
	if (!x.n_tasks)
		return error_say(err, ENOENT, "--compare: '%s' and '%s' have no task in common", a,
				b);
	spread_add_result(r, &x, &y, differences);
	return 0;
}
