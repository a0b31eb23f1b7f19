/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/score.h"
#include "run/trial_inside.h"

#include <errno.h>
#include <math.h>

/*
 * Checks the scores of a trial's episodes. Each must lie near the mean that the task states. The
 * solution's mean must lie far from the baseline's. Reports their mean and deviation over seeds.
 */

/* Most standard deviations that a score may lie from the mean that the task expects. */
#define MOVED_MOST 4.0
/* Fewest standard deviations between the means that the task expects of baseline and solution. The
 * larger of the two deviations counts. */
#define APART_LEAST 5.0

int trial_side_add(struct trial_side *side, const char *metric, double score, struct fh_error *err)
{
	const struct task_expect *expect = side->expect;
	double moved;

	moments_add(&side->scores, score);
	if (!expect->given || score_compare(score, expect->mean, true) == 0)
		return 0;
	moved = expect->sd > 0 ? fabs(score - expect->mean) / expect->sd : INFINITY;
	if (moved > side->moved)
		side->moved = moved;
	if (moved <= MOVED_MOST)
		return 0;
	if (expect->sd == 0)
		return error_say(err, ERANGE, "%s is %.6g, and the key 'expect' says %.6g", metric,
				score, expect->mean);
	return error_say(err, ERANGE,
			"%s is %.6g. The key 'expect' says %.6g with a standard deviation of %.6g, and "
			"%g deviations are allowed",
			metric, score, expect->mean, expect->sd, MOVED_MOST);
}

int trial_sides_compare(
		const struct task *task, double baseline, double solution, struct fh_error *err)
{
	const struct task_expect *low = &task->expect_baseline, *high = &task->expect_solution;
	double sd = fmax(low->sd, high->sd), apart;

	if (score_compare(solution, baseline, task->maximize) <= 0)
		return error_say(err, ERANGE, "it is no better than the baseline");
	if (!low->given || !high->given || sd == 0)
		return 0;
	apart = fabs(high->mean - low->mean) / sd;
	if (apart >= APART_LEAST)
		return 0;
	return error_say(err, ERANGE,
			"by the key 'expect' it lies %.2g standard deviations from the baseline, and %g "
			"are needed",
			apart, APART_LEAST);
}

static double trial_side_sd(const struct trial_side *side)
{
	return side->scores.n < 2 ? 0 : moments_deviation(&side->scores);
}

static json_t *trial_side_json(const struct trial_side *side)
{
	json_t *out = json_pack("{s:I, s:f, s:f}", "n", (json_int_t)side->scores.n, "mean",
			side->scores.mean, "sd", trial_side_sd(side));

	if (side->expect->given && side->expect->sd > 0)
		json_object_set_new(out, "moved_sd", json_real(side->moved));
	return out;
}

json_t *trial_sides_json(const struct trial_side *baseline, const struct trial_side *solution)
{
	double sd = fmax(trial_side_sd(baseline), trial_side_sd(solution));
	json_t *out = json_object();

	if (baseline->scores.n)
		json_object_set_new(out, "baseline", trial_side_json(baseline));
	if (solution->scores.n)
		json_object_set_new(out, "solution", trial_side_json(solution));
	if (baseline->scores.n && solution->scores.n && sd > 0)
		json_object_set_new(out, "apart_sd",
				json_real(fabs(solution->scores.mean - baseline->scores.mean) /
						sd));
	return out;
}
