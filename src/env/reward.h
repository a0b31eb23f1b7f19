/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_REWARD_H
#define ENV_REWARD_H

#include "grade/score.h"
#include "task/task.h"

#include <fumehood/env.h>

/* The scores of an episode. A zeroed struct has none. */
struct scores {
	uint32_t n;        /* number of scores so far */
	double value;      /* value of the task's metric in the last score */
	struct score best; /* best score that counts; empty: none yet */
	/*
	 * Best score of all validates, moved here from `best` at the episode's end. Only if the
	 * task's grader has `final`, because `best` is then the score of the end alone.
	 */
	struct score validated;
	bool ended; /* scores_end() moved `best` to `validated` */
};

void scores_release(struct scores *scores);

/* If the task's grader has `final`, moves the best score to `validated`. Call it at the episode's
 * end, before the score of the end is added. A second call does nothing. */
void scores_end(struct scores *scores, const struct task *task);

/*
 * Returns the score of the episode's end minus the best validate's, by the task's metric. NAN: one
 * of them is missing.
 */
double scores_gap(const struct scores *scores, const struct task *task);

/* Adds a new score, and returns the reward of its step. */
double reward_take(struct scores *scores, const struct task *task, enum fh_reward_kind kind,
		const struct score *baseline, const struct score *score);

#endif
