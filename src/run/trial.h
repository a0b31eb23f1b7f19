/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TRIAL_H
#define RUN_TRIAL_H

#include "base/json.h"
#include "task/check.h"

/* A task to try out: its baseline and its solution are played as an agent would. */
struct trial {
	const struct task_places *places;
	const char *spec;   /* the task, as for task_load() */
	const char *python; /* "ENV" or "ENV:rw"; NULL: this machine's Python */
};

/* Adds a remark for each module that a task of MLGym imports and Python lacks. Runs no code of the
 * task. */
void trial_check_imports(const struct trial *trial, struct task_check *check);

/*
 * Plays the task. Blocks until the episodes are over. 1: the task holds. 0: it can't be scored, or
 * the solution is not better than the baseline; "problem" in `played` says why. An error: the task
 * can't be loaded, or its data is missing.
 *
 * Adds members to `played`. "baseline", "solution" and "published" (by the task) are objects of
 * scores by metric. "compared" says how the baseline's score differs from the published. "note" and
 * "problem" are sentences, if there is one.
 */
int trial_play(const struct trial *trial, json_t *played, struct fh_error *err);

#endif
