/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

/* More is better, whichever way the task's metric goes. */
static double gain(const struct task *task, double now, double before)
{
	return task->maximize ? now - before : before - now;
}

static double baseline_value(const struct fh_env *env)
{
	const double *value = score_find(&env->baseline, env->task->task->metric);

	return value ? *value : 0;
}

static double reward(const struct fh_env *env, double now)
{
	const struct task *task = env->task->task;

	switch (env->reward) {
	case FH_REWARD_DELTA:
		return gain(task, now, env->n_scored ? env->value : baseline_value(env));
	case FH_REWARD_IMPROVEMENT:
		return gain(task, now, baseline_value(env));
	case FH_REWARD_NONE:
		return 0;
	}
	return 0;
}

double reward_take(struct fh_env *env, const struct score *score)
{
	const struct task *task = env->task->task;
	double now = *score_find(score, task->metric);
	const double *best = score_find(&env->best, task->metric);
	double r = reward(env, now);

	if (!best || gain(task, now, *best) > 0)
		score_copy(&env->best, score);
	env->value = now;
	env->n_scored++;
	return r;
}
