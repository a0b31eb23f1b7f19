/* SPDX-License-Identifier: Apache-2.0 */
#include "env/reward.h"

#include <math.h>

/* Returns the gain of `now` over `before`: positive if `now` is better. */
static double reward_gain(const struct task *task, double now, double before)
{
	return task->maximize ? now - before : before - now;
}

void scores_release(struct scores *scores)
{
	score_release(&scores->best);
	score_release(&scores->validated);
	*scores = (struct scores){ .n = 0 };
}

void scores_end(struct scores *scores, const struct task *task)
{
	if (scores->ended || !task->grader.final)
		return;
	scores->ended = true;
	scores->validated = scores->best;
	scores->best = (struct score){ .n = 0 };
}

double scores_gap(const struct scores *scores, const struct task *task)
{
	const double *end = score_find(&scores->best, task->metric);
	const double *validated = score_find(&scores->validated, task->metric);

	return end && validated ? *end - *validated : NAN;
}

double reward_take(struct scores *scores, const struct task *task, enum fh_reward_kind kind,
		const struct score *baseline, const struct score *score)
{
	double now = *score_find(score, task->metric);
	const double *base = score_find(baseline, task->metric);
	const double *best = score_find(&scores->best, task->metric);
	double first = base ? *base : 0, reward = 0;

	switch (kind) {
	case FH_REWARD_DELTA:
		reward = reward_gain(task, now, scores->n ? scores->value : first);
		break;
	case FH_REWARD_IMPROVEMENT:
		reward = reward_gain(task, now, first);
		break;
	case FH_REWARD_NONE:
		break;
	}
	if (!best || reward_gain(task, now, *best) > 0)
		score_copy(&scores->best, score->metrics, score->n);
	scores->value = now;
	scores->n++;
	return reward;
}
