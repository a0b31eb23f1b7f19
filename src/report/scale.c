/* SPDX-License-Identifier: Apache-2.0 */
#include "report/scale.h"

#include <math.h>

/* Best score of all runs of a task. NAN: none. */
static double scale_best(const struct report *r, size_t task)
{
	double best = NAN;

	for (size_t m = 0; m < r->models.n; m++) {
		double score = report_at(r, task, m)->best[SCORE_ATTEMPT];

		if (report_is_better(&r->tasks[task], score, best))
			best = score;
	}
	return best;
}

double scale_to(const struct report_task *task, double best)
{
	double scale = best - task->baseline;

	return report_is_better(task, best, task->baseline) && isfinite(scale) ? scale : NAN;
}

double scale_of(const struct report *r, size_t task)
{
	return scale_to(&r->tasks[task], scale_best(r, task));
}

double scale_score(const struct report *r, size_t task, double scale, double score)
{
	return isnan(score) ? 0 : (score - r->tasks[task].baseline) / scale;
}
