/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pair.h"

#include "report/stats.h"

#include <errno.h>
#include <math.h>

#define PAIR_SIGNIFICANT 0.05
#define PAIR_SMALL 0.001     /* people read no more of smaller p-values than that */
#define PAIR_NAMES_BYTES 400 /* most bytes of the list of models in an error */

static int pair_find(const struct report *r, const char *name, size_t *out, struct fh_error *err)
{
	auto_buf struct buf models = BUF_INIT(PAIR_NAMES_BYTES);

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
static void pair_add_scores(const struct report *r, struct strata *s, size_t task, size_t model)
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

static struct strata pair_new_strata(const struct report *r)
{
	return (struct strata){ .values = arena_array(r->doc->arena, r->n_runs + 1, sizeof(double)),
		.begin = arena_array(r->doc->arena, r->n_tasks + 1, sizeof(size_t)) };
}

/* Sentences about the test. Few tasks can't give a small p-value, however clear the difference. */
static const char *pair_note(struct arena *a, const double *differences, size_t n)
{
	static const char test[] =
			"The permutation test is paired by task and two-sided. It tests the "
			"tasks' probabilities of improvement against one half.";
	size_t different = 0;
	double least;

	for (size_t i = 0; i < n; i++)
		different += differences[i] != 0;
	/* All signs alike is as extreme as can be, and two of 2^different choices of signs are. */
	least = different ? pow(0.5, (double)different - 1) : 1;
	if (least <= PAIR_SIGNIFICANT)
		return test;
	return arena_printf(a,
			"%s The models differ on %zu task%s, so the p-value can't be below %.4g.",
			test, different, different == 1 ? "" : "s", least);
}

static void pair_add_result(const struct report *r, const char *title, const struct strata *x,
		const struct strata *y, const double *differences)
{
	static const char *const columns[] = { "What", "Value", "Low", "High", NULL };
	struct report_doc *doc = r->doc;
	struct interval interval = stats_improvement_interval(x, y);
	struct report_table *t = doc_add(doc, "compare-total",
			arena_printf(doc->arena, "%s: over all tasks", title),
			pair_note(doc->arena, differences, x->n_tasks), columns);
	struct cell *cells = table_add_row(doc, t);
	double p;

	cells[0] = cell_text("probability of improvement");
	cells[1] = cell_number(doc, stats_mean_improvement(x, y), 3);
	cells[2] = cell_number(doc, interval.low, 3);
	cells[3] = cell_number(doc, interval.high, 3);
	cells = table_add_row(doc, t);
	cells[0] = cell_text("p-value of the permutation test");
	p = stats_permutation(differences, x->n_tasks);
	cells[1] = cell_number(doc, p, 4);
	if (p < PAIR_SMALL)
		cells[1].text = "< 0.001";
}

int pair_tables(const struct report *r, const char *a, const char *b, struct fh_error *err)
{
	static const char *const columns[] = { "Task", "Runs of A", "Runs of B", "Best of A",
		"Best of B", "P(A better)", NULL };
	struct report_doc *doc = r->doc;
	struct strata x = pair_new_strata(r), y = pair_new_strata(r);
	double *differences = arena_array(doc->arena, r->n_tasks + 1, sizeof(double));
	const char *title = arena_printf(doc->arena, "A = %s, B = %s", a, b);
	struct report_table *t;
	size_t of_a = 0, of_b = 0;
	int n = pair_find(r, a, &of_a, err);

	if (n < 0)
		return n;
	n = pair_find(r, b, &of_b, err);
	if (n < 0)
		return n;
	t = doc_add(doc, "compare", title,
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
		pair_add_scores(r, &x, task, of_a);
		pair_add_scores(r, &y, task, of_b);
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
	pair_add_result(r, title, &x, &y, differences);
	return 0;
}
