/* SPDX-License-Identifier: Apache-2.0 */
/* long-file: all of its tables share the scales of normalised scores */
#include "report/spread.h"

#include "base/path.h"
#include "report/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRID 20                /* most points of a curve over steps or cost */
#define SPREAD_NAMES_BYTES 400 /* most bytes of the list of tasks in a note */

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

/* Number that makes 1 of `best` and 0 of the baseline. NAN: the task has no such scale. */
static double spread_scale_of(const struct report_task *task, double best)
{
	double scale = best - task->baseline;

	return report_is_better(task, best, task->baseline) && isfinite(scale) ? scale : NAN;
}

static double spread_scale(const struct report *r, size_t task)
{
	return spread_scale_of(&r->tasks[task], spread_best(r, task));
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

/* True if the end of a run was scored by other answers than its validates. */
static bool spread_is_apart(const struct report *r, size_t task)
{
	for (size_t m = 0; m < r->models.n; m++)
		for (size_t i = 0; i < report_at(r, task, m)->n; i++)
			if (report_at(r, task, m)->runs[i]->is_apart > 0)
				return true;
	return false;
}

/* The scale of a task's scores over steps. Validates have a scale of their own if the ends were
 * scored by other answers. */
static double spread_scale_over(const struct report *r, size_t task)
{
	double best = NAN;

	if (!spread_is_apart(r, task))
		return spread_scale(r, task);
	for (size_t m = 0; m < r->models.n; m++)
		for (size_t i = 0; i < report_at(r, task, m)->n; i++) {
			double score = spread_until(&r->tasks[task], report_at(r, task, m)->runs[i],
					AXIS_STEPS, INFINITY);

			if (report_is_better(&r->tasks[task], score, best))
				best = score;
		}
	return spread_scale_of(&r->tasks[task], best);
}

static bool spread_has_cost(const struct run_row *row)
{
	return !isnan(row->cost) && row->cost > 0;
}

/* True if the record tells what a run had cost at each of its scores. Only an events.jsonl can. */
static bool spread_has_step_costs(const struct run_row *row)
{
	const char *at = row->points;
	double step, score, cost;

	while (spread_point(&at, &step, &score, &cost))
		if (isnan(cost))
			return false;
	return str_eq(path_basename(row->path), "events.jsonl");
}

static bool spread_has_axis(const struct run_row *row, enum axis axis)
{
	return axis == AXIS_STEPS ? row->steps > 0
				  : spread_has_cost(row) && spread_has_step_costs(row);
}

/* Counts the runs that have a cost, but not at each score. */
static size_t spread_count_unknown_costs(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_runs; i++)
		n += spread_has_cost(r->runs[i]) && !spread_has_step_costs(r->runs[i]);
	return n;
}

/* Points on an axis at which the curves are computed: at equal distances up to `reach`. If an
 * outlier is longer, the end of the longest run is another point. */
struct spread_grid {
	double *at;
	size_t n;
	double reach;
};

static struct spread_grid spread_make_grid(const struct report *r, enum axis axis)
{
	struct spread_grid grid = { .at = arena_array(r->doc->arena, GRID + 1, sizeof(double)) };
	double *lengths = arena_array(r->doc->arena, r->n_runs + 1, sizeof(double)), most = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n_runs; i++)
		if (spread_has_axis(r->runs[i], axis)) {
			lengths[n] = axis == AXIS_STEPS ? (double)r->runs[i]->steps
							: r->runs[i]->cost;
			most = fmax(most, lengths[n++]);
		}
	grid.reach = stats_reach(lengths, n);
	if (!n)
		return grid;
	grid.n = axis == AXIS_STEPS && grid.reach < GRID ? (size_t)grid.reach : GRID;
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
static size_t spread_reached(
		const struct report *r, size_t model, enum axis axis, double x, double *values)
{
	size_t n = 0;

	for (size_t task = 0; task < r->n_tasks; task++) {
		const struct report_cell *cell = report_at(r, task, model);
		double scale = spread_scale_over(r, task);

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

/* False if a model has no run of the tasks that were chosen. */
static bool spread_has_runs(const struct report *r, size_t model)
{
	for (size_t task = 0; task < r->n_tasks; task++)
		if (report_at(r, task, model)->n)
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

static struct chart_line spread_new_line(
		struct arena *a, const char *name, const struct spread_grid *grid)
{
	return (struct chart_line){ .name = name,
		.x = grid->at,
		.y = arena_array(a, grid->n, sizeof(double)),
		.low = arena_array(a, grid->n, sizeof(double)),
		.high = arena_array(a, grid->n, sizeof(double)),
		.n = grid->n };
}

/* Sentences about a curve. `unknown` runs are left out. */
static const char *spread_note(const struct report *r, size_t unknown)
{
	static const char note[] =
			"Interquartile mean of the best normalised scores so far. The band of the "
			"picture is the middle half of the runs. A run that has ended keeps its score. "
			"Until its first score a run counts as 0, so a curve falls where first scores "
			"are worse than the baseline.";
	auto_buf struct buf out = BUF_INIT(2048);
	bool is_apart = false;

	for (size_t task = 0; task < r->n_tasks; task++)
		is_apart = is_apart || spread_is_apart(r, task);
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

static void spread_over(const struct report *r, enum axis axis)
{
	struct report_doc *doc = r->doc;
	struct spread_grid grid = spread_make_grid(r, axis);
	struct chart *chart = arena_alloc(doc->arena, sizeof(*chart));
	struct chart_line *lines = arena_array(doc->arena, r->models.n, sizeof(*lines));
	double *values = arena_array(doc->arena, r->n_runs + 1, sizeof(double));
	size_t unknown = axis == AXIS_COST ? spread_count_unknown_costs(r) : 0;
	size_t *models = arena_array(doc->arena, r->models.n, sizeof(*models));
	struct texts names = { .items = arena_array(doc->arena, r->models.n, sizeof(char *)) };
	struct report_table *t;

	if (!grid.n && !unknown)
		return;
	for (size_t m = 0; m < r->models.n; m++)
		if (spread_has_runs(r, m)) {
			models[names.n] = m;
			names.items[names.n++] = r->models.items[m];
		}
	t = doc_add_named(doc, axis == AXIS_STEPS ? "over-steps" : "over-cost",
			axis == AXIS_STEPS ? "Score over steps" : "Score over cost",
			spread_note(r, unknown), axis == AXIS_STEPS ? "Steps" : "$", &names);
	if (!grid.n)
		return;
	for (size_t i = 0; i < names.n; i++)
		lines[i] = spread_new_line(doc->arena, names.items[i], &grid);
	for (size_t g = 0; g < grid.n; g++) {
		struct cell *cells = table_add_row(doc, t);

		cells[0] = axis == AXIS_STEPS ? cell_count(doc, grid.at[g])
					      : cell_small(doc, grid.at[g], 3);
		for (size_t i = 0; i < names.n; i++) {
			size_t n = spread_reached(r, models[i], axis, grid.at[g], values);
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
	spread_over(r, AXIS_STEPS);
	spread_over(r, AXIS_COST);
}
