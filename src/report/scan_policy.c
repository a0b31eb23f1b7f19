/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "report/scan_inside.h"

#include <math.h>
#include <string.h>

/* Reads <task>_pi<N>_<time>.json, which a trainer of a policy writes for each episode. */

bool scan_is_policy(const struct pyjson *root)
{
	return pyjson_get(root, "policy_step") && pyjson_get(root, "trajectory");
}

/* Reads a score of `validation_history`: a number, a pair of turn and score, or an object. */
static double policy_score(const struct pyjson *v, const char *metric)
{
	double score = NAN;

	if (v->kind == PYJSON_OBJECT) {
		pyjson_double(pyjson_get(v, "score"), &score);
		return isnan(score) ? scan_value(v, metric) : score;
	}
	if (v->kind == PYJSON_ARRAY && v->n == 2)
		v = v->first->next;
	pyjson_double(v, &score);
	return score;
}

static void policy_turn(struct scan *s, const struct pyjson *turn)
{
	struct scan_step *step = scan_add_step(s);
	const struct pyjson *score = pyjson_get(turn, "score");
	int64_t exit_code = 0;

	step->kind = action_letter_of(pyjson_text(pyjson_get(turn, "action")));
	pyjson_i64(pyjson_get(turn, "exit_code"), &exit_code);
	step->failed = exit_code != 0;
	step->timed_out = str_eq(pyjson_string(pyjson_get(turn, "outcome")), "timeout");
	if (!pyjson_double(score, &step->score))
		step->score = scan_value(score, s->row->metric);
	step->scored = step->graded = !isnan(step->score);
	pyjson_double(pyjson_get(turn, "duration_s"), &step->duration_s);
	step->graded_s = step->graded ? step->duration_s : 0;
	pyjson_double(pyjson_get(turn, "grading_s"), &step->graded_s);
	pyjson_double(pyjson_get(turn, "reward"), &step->reward);
}

/* The improvement is positive if the last score is better, so it tells which scores are. */
static void policy_set_direction(struct scan *s, const struct pyjson *metrics)
{
	struct run_row *row = s->row;
	double gain;

	if (row->metric && !row->guessed)
		return;
	row->metric = row->metric ? row->metric : "score";
	row->guessed = 1;
	if (pyjson_double(pyjson_get(metrics, "improvement"), &gain) && gain != 0 &&
			row->last != row->baseline)
		row->maximize = (gain > 0) == (row->last > row->baseline);
}

static void policy_set_scores(struct scan *s, const struct pyjson *metrics)
{
	const struct pyjson *history = pyjson_get(metrics, "validation_history");
	struct run_row *row = s->row;

	pyjson_double(pyjson_get(metrics, "baseline_score"), &row->baseline);
	pyjson_double(pyjson_get(metrics, "final_score"), &row->last);
	policy_set_direction(s, metrics);
	row->best = row->last;
	if (!history || history->kind != PYJSON_ARRAY)
		return;
	for (const struct pyjson *v = history->first; v; v = v->next)
		row->best = scan_better(row, row->best, policy_score(v, row->metric));
}

void scan_policy(struct scan *s, const struct pyjson *root)
{
	const struct pyjson *turns = pyjson_get(root, "trajectory");
	const struct pyjson *metrics = pyjson_get(root, "metrics"),
			    *info = pyjson_get(root, "info");
	struct run_row *row = s->row;

	pyjson_i64(pyjson_get(root, "policy_step"), &row->policy_step);
	pyjson_i64(pyjson_get(root, "example_id"), &row->number);
	row->started = scan_text(s, pyjson_get(root, "timestamp"));
	row->exit_status = scan_text(s, pyjson_get(info, "exit_status"));
	row->complete = row->exit_status != NULL;
	policy_set_scores(s, metrics);
	for (const struct pyjson *v = turns->kind == PYJSON_ARRAY ? turns->first : NULL; v;
			v = v->next)
		policy_turn(s, v);
	scan_sum_steps(s);
	row->failed = 0;
	for (size_t i = 0; i < s->n_steps; i++)
		row->failed += s->steps[i].failed;
	row->refused = row->integrity = -1; /* not recorded */
	pyjson_i64(pyjson_get(info, "errors"), &row->format_errors);
	/* A trainer may record the reward that it learns from. */
	pyjson_double(pyjson_get(metrics, "reward"), &row->reward);
	pyjson_double(pyjson_get(root, "reward"), &row->reward);
}
