/* SPDX-License-Identifier: Apache-2.0 */
#include "report/paper.h"

#include "report/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRID_POINTS 500 /* points of a performance profile */
#define PENALTY 1.05    /* ratio of an infeasible score to the worst feasible one */
#define PAPER_DIGITS 3
#define OUTLIER_RANGES 3

static const char *const kind_ids[N_SCORE_KINDS] = { "attempt", "submission" };
static const char *const kind_names[N_SCORE_KINDS] = { "best@attempt", "best@submission" };

/* The baseline is the competitor after the models. */
static double paper_score(const struct report *r, enum score_kind kind, size_t task, size_t who)
{
	return who == r->models.n ? r->tasks[task].baseline : report_at(r, task, who)->best[kind];
}

static const char *paper_name(const struct report *r, size_t who)
{
	if (who < r->models.n)
		return r->models.items[who];
	/* the model `baseline` plays the tasks' baselines, and keeps its name */
	for (size_t i = 0; i < r->models.n; i++)
		if (str_eq(r->models.items[i], "baseline"))
			return "task's baseline";
	return "baseline";
}

/* --- scores ----------------------------------------------------------------------------------- */

/*
 * Finds the least and the greatest score that are no outliers. An outlier is further from the
 * middle half than three times its range. NAN: n is 0. Sorts the scores.
 */
static void paper_range(double *scores, size_t n, double *out_low, double *out_high)
{
	double q1, q3, reach;

	stats_sort(scores, n);
	q1 = stats_quantile(scores, n, 0.25);
	q3 = stats_quantile(scores, n, 0.75);
	reach = q3 > q1 ? OUTLIER_RANGES * (q3 - q1) : HUGE_VAL;
	*out_low = *out_high = NAN;
	for (size_t i = 0; i < n; i++) {
		if (scores[i] < q1 - reach || scores[i] > q3 + reach)
			continue;
		*out_low = isnan(*out_low) ? scores[i] : *out_low;
		*out_high = scores[i];
	}
}

/* Places each score of a row between the row's worst (0) and best (1) that are no outliers. */
static void paper_shades(const struct report *r, enum score_kind kind, size_t task, double *out)
{
	const struct report_task *t = &r->tasks[task];
	double *scores = arena_array(r->doc->arena, r->models.n + 1, sizeof(double));
	double low, high;
	size_t n = 0;

	for (size_t who = 0; who <= r->models.n; who++) {
		double score = paper_score(r, kind, task, who);

		if (!isnan(score))
			scores[n++] = score;
	}
	paper_range(scores, n, &low, &high);
	for (size_t i = 0; i <= r->models.n; i++) {
		double score = paper_score(r, kind, task, i ? i - 1 : r->models.n);
		double inside = isnan(score) ? NAN : fmin(fmax(score, low), high);
		double at = high > low ? (inside - low) / (high - low) : score - score + 1;

		out[i] = t->maximize || high <= low ? at : 1 - at;
	}
}

static void paper_scores(const struct report *r, enum score_kind kind)
{
	struct report_doc *doc = r->doc;
	struct texts names = { arena_array(doc->arena, r->models.n + 1, sizeof(char *)),
		r->models.n + 1 };
	struct chart *chart = arena_alloc(doc->arena, sizeof(*chart));
	double *shades =
			arena_array(doc->arena, (r->models.n + 1) * r->n_tasks + 1, sizeof(double));
	struct report_table *t;

	names.items[0] = paper_name(r, r->models.n);
	memcpy(names.items + 1, r->models.items, r->models.n * sizeof(char *));
	t = doc_add_named(doc, arena_printf(doc->arena, "scores-%s", kind_ids[kind]),
			arena_printf(doc->arena, "Scores, %s", kind_names[kind]),
			kind == SCORE_ATTEMPT ? "Best score of all attempts, over runs."
					      : "Best of the last scores of runs.",
			"Task", &names);
	for (size_t task = 0; task < r->n_tasks; task++) {
		struct cell *cells = table_add_row(doc, t);

		cells[0] = cell_text(r->tasks[task].name);
		cells[1] = cell_rounded(doc, r->tasks[task].baseline, PAPER_DIGITS);
		for (size_t m = 0; m < r->models.n; m++)
			cells[m + 2] = cell_number(
					doc, report_at(r, task, m)->best[kind], PAPER_DIGITS);
		paper_shades(r, kind, task, shades + task * (r->models.n + 1));
	}
	*chart = (struct chart){ .kind = CHART_HEAT, .shades = shades };
	t->chart = chart;
}

/* --- ranks ------------------------------------------------------------------------------------ */

struct ranked {
	size_t who;
	double key; /* less is better; NAN is last */
};

static int paper_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (isnan(x->key) != isnan(y->key))
		return isnan(x->key) ? 1 : -1;
	if (!isnan(x->key) && x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->who < y->who ? -1 : 1;
}

static void paper_sort(struct ranked *list, size_t n)
{
	qsort(list, n, sizeof(*list), paper_compare);
}

static void paper_add_ranks(struct report_doc *doc, const struct report *r, struct report_table *t,
		const char *name, const struct ranked *list)
{
	struct cell *cells = table_add_row(doc, t);

	cells[0] = cell_text(name);
	for (size_t i = 0; i <= r->models.n; i++)
		cells[i + 1] = cell_text(paper_name(r, list[i].who));
}

static bool paper_is_tied(const struct ranked *a, const struct ranked *b)
{
	return a->key == b->key || (isnan(a->key) && isnan(b->key));
}

/* Sorts the competitors of one task. Adds positions to the sums. Competitors with the same score
 * share the mean of their positions, and so do those without one. Nothing orders them. */
static void paper_rank_task(const struct report *r, enum score_kind kind, size_t task,
		struct ranked *list, double *sums)
{
	size_t n = r->models.n + 1;

	for (size_t who = 0; who < n; who++) {
		double score = paper_score(r, kind, task, who);

		list[who] = (struct ranked){ who, r->tasks[task].maximize ? -score : score };
	}
	paper_sort(list, n);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && paper_is_tied(&list[i], &list[end]);)
			end++;
		for (size_t k = i; k < end; k++)
			sums[list[k].who] += (double)(i + 1 + end) / 2;
	}
}

static void paper_ranks(const struct report *r, enum score_kind kind)
{
	struct report_doc *doc = r->doc;
	size_t n = r->models.n + 1;
	struct texts places = { arena_array(doc->arena, n, sizeof(char *)), n };
	struct ranked *list = arena_array(doc->arena, n, sizeof(*list));
	double *sums = arena_array(doc->arena, n, sizeof(*sums));
	static const char *const columns[] = { "Model", "Mean rank", "BORDA", NULL };
	struct report_table *t;

	for (size_t i = 0; i < n; i++)
		places.items[i] = arena_printf(doc->arena, "%zu", i + 1);
	t = doc_add_named(doc, arena_printf(doc->arena, "ranks-%s", kind_ids[kind]),
			arena_printf(doc->arena, "Ranks, %s", kind_names[kind]),
			"The order of models with the same score, or without one, means nothing.",
			"Rank", &places);
	for (size_t task = 0; task < r->n_tasks; task++) {
		paper_rank_task(r, kind, task, list, sums);
		paper_add_ranks(doc, r, t, r->tasks[task].name, list);
	}
	for (size_t who = 0; who < n; who++)
		list[who] = (struct ranked){ who, sums[who] };
	paper_sort(list, n);
	paper_add_ranks(doc, r, t, "Plackett-Luce", list);
	paper_add_ranks(doc, r, t, "BORDA", list);
	t = doc_add(doc, arena_printf(doc->arena, "borda-%s", kind_ids[kind]),
			arena_printf(doc->arena, "Mean rank and BORDA count, %s", kind_names[kind]),
			"BORDA sums the number of competitors minus the rank. Models with the same "
			"score, or without one, share the mean of their ranks.",
			columns);
	for (size_t i = 0; i < n; i++) {
		struct cell *cells = table_add_row(doc, t);
		double sum = sums[list[i].who];

		cells[0] = cell_text(paper_name(r, list[i].who));
		cells[1] = cell_number(doc, sum / (double)r->n_tasks, 2);
		cells[2] = cell_number(doc, (double)(n * r->n_tasks) - sum, 1);
	}
	t->chart = arena_alloc(doc->arena, sizeof(struct chart));
	*t->chart = (struct chart){ .kind = CHART_BARS, .bar_column = 2 };
}

/* --- performance profiles --------------------------------------------------------------------- */

static double *paper_ratio_at(const struct report *r, double *ratios, enum score_kind kind,
		size_t task, size_t who)
{
	return &ratios[((size_t)kind * r->n_tasks + task) * (r->models.n + 1) + who];
}

/* A score counts if it is not negative, and not worse than the baseline's. */
static bool paper_is_feasible(const struct report_task *t, double score)
{
	if (isnan(score) || score < 0)
		return false;
	return isnan(t->baseline) || !report_is_better(t, t->baseline, score);
}

/* Sets the ratios of the best score to each score, 1 or more. Returns the highest. */
static double paper_set_ratios(
		const struct report *r, double *ratios, enum score_kind kind, size_t task)
{
	const struct report_task *t = &r->tasks[task];
	double best = NAN, worst = 1;

	for (size_t who = 0; who <= r->models.n; who++) {
		double score = paper_score(r, kind, task, who);

		if (paper_is_feasible(t, score) && report_is_better(t, score, best))
			best = score;
	}
	for (int pass = 0; pass < 2; pass++)
		for (size_t who = 0; who <= r->models.n; who++) {
			double score = paper_score(r, kind, task, who);
			double ratio = t->maximize ? best / score : score / best;
			bool counts = paper_is_feasible(t, score) && isfinite(ratio);

			if (counts && pass == 0)
				worst = fmax(worst, ratio);
			*paper_ratio_at(r, ratios, kind, task, who) = counts ? ratio
									     : worst * PENALTY;
		}
	return worst * PENALTY;
}

/* Share of the tasks whose ratio is at most 10^x. */
static double paper_profile(
		const struct report *r, double *ratios, enum score_kind kind, size_t who, double x)
{
	size_t n = 0;

	for (size_t task = 0; task < r->n_tasks; task++)
		n += log10(*paper_ratio_at(r, ratios, kind, task, who)) <= x;
	return (double)n / (double)r->n_tasks;
}

static void paper_profiles(const struct report *r, double *ratios, double most,
		enum score_kind kind, double *areas)
{
	struct report_doc *doc = r->doc;
	size_t n = r->models.n + 1;
	double *grid = arena_array(doc->arena, GRID_POINTS, sizeof(*grid));
	struct chart_line *lines = arena_array(doc->arena, n, sizeof(*lines));
	struct chart *chart = arena_alloc(doc->arena, sizeof(*chart));
	static const char *const columns[] = { "Model", "1x", "1.1x", "1.25x", "1.5x", "2x", "4x",
		"10x", NULL };
	static const double factors[] = { 1, 1.1, 1.25, 1.5, 2, 4, 10 };
	struct report_table *t = doc_add(doc,
			arena_printf(doc->arena, "profile-%s", kind_ids[kind]),
			arena_printf(doc->arena, "Performance profile, %s", kind_names[kind]),
			"Share of the tasks on which a model's score is within this factor of the best.",
			columns);

	for (size_t i = 0; i < GRID_POINTS; i++)
		grid[i] = most * (double)i / (GRID_POINTS - 1);
	for (size_t who = 0; who < n; who++) {
		struct cell *cells = table_add_row(doc, t);
		double *y = arena_array(doc->arena, GRID_POINTS, sizeof(*y));

		cells[0] = cell_text(paper_name(r, who));
		for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
			cells[i + 1] = cell_number(doc,
					paper_profile(r, ratios, kind, who, log10(factors[i])), 3);
		for (size_t i = 0; i < GRID_POINTS; i++) {
			y[i] = paper_profile(r, ratios, kind, who, grid[i]);
			if (i + 1 < GRID_POINTS)
				areas[who] += y[i] * most / (GRID_POINTS - 1);
		}
		lines[who] = (struct chart_line){ .name = paper_name(r, who),
			.x = grid,
			.y = y,
			.n = GRID_POINTS,
			.steps = true };
	}
	*chart = (struct chart){ .kind = CHART_LINES,
		.x_title = "log10 of the ratio to the best",
		.y_title = "share of tasks",
		.lines = lines,
		.n_lines = n };
	t->chart = chart;
}

static void paper_areas(const struct report *r)
{
	struct report_doc *doc = r->doc;
	size_t n = r->models.n + 1;
	double *ratios = arena_array(doc->arena, N_SCORE_KINDS * r->n_tasks * n, sizeof(*ratios));
	double *areas = arena_array(doc->arena, N_SCORE_KINDS * n, sizeof(*areas));
	static const char *const columns[] = { "Model", "Best AUP", "Last AUP", NULL };
	double worst = 1, most;
	struct report_table *t;

	for (int kind = 0; kind < N_SCORE_KINDS; kind++)
		for (size_t task = 0; task < r->n_tasks; task++)
			worst = fmax(worst, paper_set_ratios(r, ratios, kind, task));
	most = ceil(10 * log10(worst)) / 10;
	for (int kind = 0; kind < N_SCORE_KINDS; kind++)
		paper_profiles(r, ratios, most, kind, areas + (size_t)kind * n);
	t = doc_add(doc, "aup", "AUP",
			"Area under the performance profile. It depends on which models are compared.",
			columns);
	for (size_t who = 0; who < n; who++) {
		struct cell *cells = table_add_row(doc, t);

		cells[0] = cell_text(paper_name(r, who));
		for (size_t kind = 0; kind < N_SCORE_KINDS; kind++)
			cells[kind + 1] = cell_number(doc, areas[kind * n + who], PAPER_DIGITS);
	}
}

void paper_tables(const struct report *r)
{
	if (!r->n_tasks)
		return;
	for (int kind = 0; kind < N_SCORE_KINDS; kind++)
		paper_scores(r, kind);
	for (int kind = 0; kind < N_SCORE_KINDS; kind++)
		paper_ranks(r, kind);
	paper_areas(r);
}
