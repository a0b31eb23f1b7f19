/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scores.h"

#include "base/mem.h"
#include "trajectory/info.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#define ALL_BYTES_MAX (16L * 1024 * 1024)
#define METRICS_BYTES_MAX (1024 * 1024)

void run_scores_init(struct run_scores *s)
{
	*s = (struct run_scores){
		.baseline_value = NAN, .best_value = NAN, .last_value = NAN, .gap = NAN
	};
	buf_init(&s->all, ALL_BYTES_MAX);
	buf_init(&s->baseline, METRICS_BYTES_MAX);
	buf_init(&s->best, METRICS_BYTES_MAX);
	buf_init(&s->validated, METRICS_BYTES_MAX);
	buf_add_str(&s->baseline, "null");
	buf_add_str(&s->best, "null");
	buf_add_str(&s->validated, "null");
}

void run_scores_release(struct run_scores *s)
{
	free(s->metric);
	free(s->refused);
	buf_release(&s->all);
	buf_release(&s->baseline);
	buf_release(&s->best);
	buf_release(&s->validated);
}

/* --- scores in an environment's results ------------------------------------------------------- */

static double scores_value_of(const struct run_scores *s, const struct fh_metric *metrics, size_t n)
{
	for (size_t i = 0; i < n; i++)
		/* Compare names of metrics without case: evaluators differ in it. */
		if (strcasecmp(metrics[i].name, s->metric) == 0)
			return metrics[i].value;
	return NAN;
}

static double scores_set(const struct run_scores *s, struct buf *json,
		const struct fh_metric *metrics, size_t n)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(json, PYJSON_LINE);

	buf_clear(json);
	info_put_metrics(&w, NULL, metrics, n);
	return scores_value_of(s, metrics, n);
}

void run_scores_begin(struct run_scores *s, const struct fh_env_info *info)
{
	s->maximize = info->maximize;
	xstrset(&s->metric, info->metric);
	s->baseline_value = scores_set(s, &s->baseline, info->baseline, info->n_baseline);
}

void run_scores_add(struct run_scores *s, const struct fh_step *step)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&s->all, PYJSON_LINE);

	s->last_value = scores_value_of(s, step->score, step->n_score);
	free(s->refused);
	s->refused = step->grade_error ? xstrdup(step->grade_error) : NULL;
	w.filled = s->all.len > 0;
	if (step->score)
		info_put_metrics(&w, NULL, step->score, step->n_score);
	s->best_value = scores_set(s, &s->best, step->best, step->n_best);
	s->final = step->final;
	s->gap = step->gap;
	scores_set(s, &s->validated, step->validated, step->n_validated);
}

/* --- of a record ------------------------------------------------------------------------------ */

static double scores_recorded_value(const struct run_scores *s, const struct pyjson *score)
{
	const struct pyjson *m = score && score->kind == PYJSON_OBJECT ? score->first : NULL;
	double v = NAN;

	for (; m; m = m->next)
		if (strcasecmp(m->key, s->metric) == 0)
			pyjson_double(m, &v);
	return v;
}

static void scores_put(struct buf *json, const struct pyjson *value)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(json, PYJSON_LINE);

	if (!value || value->kind != PYJSON_OBJECT)
		return;
	buf_clear(json);
	pyjson_put_value(&w, NULL, value);
}

/* Reads two scores of a task that scores the end by other answers (`final`). These are the end's
 * score and the best score of a `validate`. */
static void scores_read_final(struct run_scores *s, const struct pyjson *final)
{
	const struct pyjson *score = pyjson_get(final, "score");

	s->final = true;
	s->best_value = scores_recorded_value(s, score);
	buf_clear(&s->best);
	buf_add_str(&s->best, "null");
	scores_put(&s->best, score);
	scores_put(&s->validated, pyjson_get(final, "validated"));
	pyjson_double(pyjson_get(final, "gap"), &s->gap);
}

void run_scores_read(struct run_scores *s, const struct pyjson *open, const struct pyjson *results)
{
	const struct pyjson *maximize = pyjson_get(open, "maximize");
	const struct pyjson *baseline = pyjson_get(open, "baseline");
	const struct pyjson *list = pyjson_get(results, "agent");
	const struct pyjson *score = list && list->kind == PYJSON_ARRAY ? list->first : NULL;
	struct pyjson_writer w = PYJSON_WRITER_INIT(&s->all, PYJSON_LINE);

	s->maximize = maximize && maximize->boolean;
	xstrset(&s->metric, pyjson_text(pyjson_get(open, "metric")));
	s->baseline_value = scores_recorded_value(s, baseline);
	scores_put(&s->baseline, baseline);
	for (; score; score = score->next) {
		double v = scores_recorded_value(s, score);

		w.filled = s->all.len > 0;
		pyjson_put_value(&w, NULL, score);
		/* If scores are equal, the first one counts as the best; environments do the
		 * same. */
		if (isnan(v) || (s->maximize ? v <= s->best_value : v >= s->best_value))
			continue;
		s->best_value = v;
		scores_put(&s->best, score);
	}
	if (pyjson_get(results, "final"))
		scores_read_final(s, pyjson_get(results, "final"));
}
