/* SPDX-License-Identifier: Apache-2.0 */
#include "report/curve.h"

#include "base/path.h"
#include "report/scale.h"
#include "report/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CURVE_POINTS_MAX 20 /* without a point for an outlier */

/* Reads the next line of `points`. Returns false at the end. */
static bool curve_point(const char **at, double *step, double *score, double *cost)
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
static double curve_until(
		const struct report_task *task, const struct run_row *row, enum axis axis, double x)
{
	const char *at = row->points;
	double step, score, cost, best = NAN;

	while (curve_point(&at, &step, &score, &cost)) {
		double where = axis == AXIS_STEPS ? step : cost;

		if (where <= x && report_is_better(task, score, best))
			best = score;
	}
	return best;
}

/* True if the end of a run was scored by other answers than its validates. */
static bool curve_is_apart(const struct report *r, size_t task)
{
	for (size_t m = 0; m < r->models.n; m++)
		for (size_t i = 0; i < report_at(r, task, m)->n; i++)
			if (report_at(r, task, m)->runs[i]->is_apart > 0)
				return true;
	return false;
}

/* The scale of a task's scores over steps. Validates have a scale of their own if the ends were
 * scored by other answers. */
static double curve_scale_over(const struct report *r, size_t task)
{
	double best = NAN;

	if (!curve_is_apart(r, task))
		return scale_of(r, task);
	for (size_t m = 0; m < r->models.n; m++)
		for (size_t i = 0; i < report_at(r, task, m)->n; i++) {
			double score = curve_until(&r->tasks[task], report_at(r, task, m)->runs[i],
					AXIS_STEPS, INFINITY);

			if (report_is_better(&r->tasks[task], score, best))
				best = score;
		}
	return scale_to(&r->tasks[task], best);
}

static bool curve_has_cost(const struct run_row *row)
{
	return !isnan(row->cost) && row->cost > 0;
}

/* True if the record tells what a run had cost at each of its scores. Only an events.jsonl can. */
static bool curve_has_step_costs(const struct run_row *row)
{
	const char *at = row->points;
	double step, score, cost;

	while (curve_point(&at, &step, &score, &cost))
		if (isnan(cost))
			return false;
	return str_eq(path_basename(row->path), "events.jsonl");
}

static bool curve_has_axis(const struct run_row *row, enum axis axis)
{
	return axis == AXIS_STEPS ? row->steps > 0
				  : curve_has_cost(row) && curve_has_step_costs(row);
}

/* Counts the runs that have a cost, but not at each score. */
static size_t curve_count_unknown_costs(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_runs; i++)
		n += curve_has_cost(r->runs[i]) && !curve_has_step_costs(r->runs[i]);
	return n;
}

/* Points on an axis at which the curves are computed: at equal distances up to `reach`. If an
 * outlier is longer, the end of the longest run is another point. */
struct curve_grid {
	double *at;
	size_t n;
	double reach;
};

static struct curve_grid curve_make_grid(const struct report *r, enum axis axis)
{
	struct curve_grid grid = { .at = arena_array(r->doc->arena, CURVE_POINTS_MAX + 1,
						   sizeof(double)) };
	double *lengths = arena_array(r->doc->arena, r->n_runs + 1, sizeof(double)), most = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n_runs; i++)
		if (curve_has_axis(r->runs[i], axis)) {
			lengths[n] = axis == AXIS_STEPS ? (double)r->runs[i]->steps
							: r->runs[i]->cost;
			most = fmax(most, lengths[n++]);
		}
	grid.reach = stats_reach(lengths, n);
	if (!n)
		return grid;
	grid.n = axis == AXIS_STEPS && grid.reach < CURVE_POINTS_MAX ? (size_t)grid.reach
								     : CURVE_POINTS_MAX;
	for (size_t i = 0; i < grid.n; i++) {
		grid.at[i] = grid.reach * (double)(i + 1) / (double)grid.n;
		if (axis == AXIS_STEPS)
			grid.at[i] = ceil(grid.at[i]);
	}
	if (most > grid.reach)
		grid.at[grid.n++] = most;
	return grid;
}

/* Collects the normalised scores that a model's runs have reached at x. Returns how many. */
static size_t curve_reached(
		const struct report *r, size_t model, enum axis axis, double x, double *values)
{
	size_t n = 0;

	for (size_t task = 0; task < r->n_tasks; task++) {
		const struct report_cell *cell = report_at(r, task, model);
		double scale = curve_scale_over(r, task);

		for (size_t i = 0; !isnan(scale) && i < cell->n; i++)
			if (curve_has_axis(cell->runs[i], axis))
				values[n++] = scale_score(r, task, scale,
						curve_until(&r->tasks[task], cell->runs[i], axis,
								x));
	}
	return n;
}

/* False if a model has no run of the tasks that were chosen. */
static bool curve_has_runs(const struct report *r, size_t model)
{
	for (size_t task = 0; task < r->n_tasks; task++)
		if (report_at(r, task, model)->n)
			return true;
	return false;
}

static struct chart_line curve_new_line(
		struct arena *a, const char *name, const struct curve_grid *grid)
{
	return (struct chart_line){ .name = name,
		.x = grid->at,
		.y = arena_array(a, grid->n, sizeof(double)),
		.low = arena_array(a, grid->n, sizeof(double)),
		.high = arena_array(a, grid->n, sizeof(double)),
		.n = grid->n };
}

/* Sentences about a curve. `unknown` runs are left out. */
static const char *curve_note(const struct report *r, size_t unknown)
{
	static const char note[] =
			"Interquartile mean of the best normalised scores so far. The band of the "
			"picture is the middle half of the runs. A run that has ended keeps its score. "
			"Until its first score a run counts as 0, so a curve falls where first scores "
			"are worse than the baseline.";
	auto_buf struct buf out = BUF_INIT(2048);
	bool is_apart = false;

	for (size_t task = 0; task < r->n_tasks; task++)
		is_apart = is_apart || curve_is_apart(r, task);
	buf_add_str(&out, note);
	if (is_apart)
		buf_add_str(&out,
				" If the end of a task's runs is scored by other answers, the curves "
				"are of validates, and 1 is the best validate.");
	if (unknown)
		buf_printf(&out,
				" Left out are %zu of %zu runs, because their records don't tell what "
				"each step cost. Those of MLGym don't.",
				unknown, r->n_runs);
	return arena_strdup(r->doc->arena, buf_str(&out));
}

void curve_add(const struct report *r, enum axis axis)
{
	struct report_doc *doc = r->doc;
	struct curve_grid grid = curve_make_grid(r, axis);
	struct chart *chart = arena_alloc(doc->arena, sizeof(*chart));
	struct chart_line *lines = arena_array(doc->arena, r->models.n, sizeof(*lines));
	double *values = arena_array(doc->arena, r->n_runs + 1, sizeof(double));
	size_t unknown = axis == AXIS_COST ? curve_count_unknown_costs(r) : 0;
	size_t *models = arena_array(doc->arena, r->models.n, sizeof(*models));
	struct texts names = { .items = arena_array(doc->arena, r->models.n, sizeof(char *)) };
	struct report_table *t;

	if (!grid.n && !unknown)
		return;
	for (size_t m = 0; m < r->models.n; m++)
		if (curve_has_runs(r, m)) {
			models[names.n] = m;
			names.items[names.n++] = r->models.items[m];
		}
	t = doc_add_named(doc, axis == AXIS_STEPS ? "over-steps" : "over-cost",
			axis == AXIS_STEPS ? "Score over steps" : "Score over cost",
			curve_note(r, unknown), axis == AXIS_STEPS ? "Steps" : "$", &names);
	if (!grid.n)
		return;
	for (size_t i = 0; i < names.n; i++)
		lines[i] = curve_new_line(doc->arena, names.items[i], &grid);
	for (size_t g = 0; g < grid.n; g++) {
		struct cell *cells = table_add_row(doc, t);

		cells[0] = axis == AXIS_STEPS ? cell_count(doc, grid.at[g])
					      : cell_small(doc, grid.at[g], 3);
		for (size_t i = 0; i < names.n; i++) {
			size_t n = curve_reached(r, models[i], axis, grid.at[g], values);
			struct chart_line *line = &lines[i];

			line->y[g] = stats_iqm(values, n);
			line->low[g] = n ? stats_quantile(values, n, 0.25) : NAN;
			line->high[g] = n ? stats_quantile(values, n, 0.75) : NAN;
			cells[i + 1] = cell_number(doc, line->y[g], 3);
		}
	}
	*chart = (struct chart){ .kind = CHART_LINES,
		.x_title = axis == AXIS_STEPS ? "steps" : "dollars of a run",
		.y_title = "normalised score",
		.lines = lines,
		.n_lines = names.n,
		.x_high = grid.reach };
	t->chart = chart;
}
