/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_REWARD_H
#define ENV_REWARD_H

#include "grade/score.h"
#include "task/task.h"

#include <fumehood/env.h>

/* The scores of an episode. A zeroed struct with an empty `best` has none. */
struct scores {
	uint32_t n;        /* number of scores so far */
	double value;      /* last value of the task's metric */
	struct score best; /* best score; empty: none yet */
};

/* Adds a new score, and returns the reward of its step. */
double reward_take(struct scores *scores, const struct task *task, enum fh_reward_kind kind,
		const struct score *baseline, const struct score *score);

#endif
