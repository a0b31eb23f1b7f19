/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TRIAL_H
#define RUN_TRIAL_H

#include "base/json.h"
#include "task/check.h"

/* Tries out a task: plays its baseline and its solution as an agent would. */

struct trial {
	const struct task_places *places;
	const char *spec; /* name or path of the task, as for task_load() */
	/* Python environment for the task, "ENV" or "ENV:rw"; NULL: this machine's Python */
	const char *python;
	/* Number of seeds to play: of training and judge, and of the data if it is generated. 0
	 * counts as 1. */
	int n_seeds;
};

/* Adds a remark for each module that a task of MLGym imports and that Python lacks. Runs no code
 * of the task. */
void trial_check_imports(const struct trial *trial, struct task_check *check);

/*
 * Plays the task. Blocks until the episodes are over. 1: the task holds. 0: it does not, and
 * "problem" in `played` says why. An error: the task can't be loaded, or its data is missing.
 *
 * A task holds if baseline and solution have the scores of the key `expect`, and the solution is
 * better. Grading the same submission twice has to give equal scores. An episode must not show
 * hidden files.
 *
 * Adds members to `played`. "metric" is the metric that decides. "baseline", "solution" and
 * "published" (by the task) are objects of scores by metric, for the first seed. "seeds" describes
 * the scores of several seeds. "validated" has the solution's scores by validate, if the grader has
 * `final`. "compared" says how the baseline's score differs from the published. "note" and
 * "problem" are sentences, if there is one.
 */
int trial_play(const struct trial *trial, json_t *played, struct fh_error *err);

#endif
