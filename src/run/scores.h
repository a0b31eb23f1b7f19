/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_SCORES_H
#define RUN_SCORES_H

#include "base/buf.h"
#include "python/pyjson.h"

#include <fumehood/env.h>

#include <stdbool.h>

/*
 * Scores of one episode. Each `..._value` is the value of the task's metric alone; NAN: no score.
 */
struct run_scores {
	char *metric;
	bool maximize;
	struct buf all; /* all scores so far: JSON objects, separated by commas */
	/* Scores as JSON, an object or null. If the task scores the end by other answers (`final`),
	 * `best` is the end's score. Then `validated` is the best score of a `validate`. */
	struct buf baseline, best, validated;
	double baseline_value, best_value;
	double last_value; /* value of the last step's score; NAN: that step had none */
	char *refused;     /* why the last step's submission got no score; NULL: no such reason */
	/* the episode has ended, and its task scores the end by other answers (`final`) */
	bool final;
	double gap; /* best score minus the best score of a `validate`; NAN: not known */
};

void run_scores_init(struct run_scores *s);
void run_scores_release(struct run_scores *s);

/* Functions that collect an episode's scores. Call run_scores_begin() when the environment is open,
 * run_scores_add() after each step. */
void run_scores_begin(struct run_scores *s, const struct fh_env_info *info);
void run_scores_add(struct run_scores *s, const struct fh_step *step);

/* Reads an episode's scores from its record. `open` is the "open" event. `results` is the object in
 * results.json, or NULL. */
void run_scores_read(struct run_scores *s, const struct pyjson *open, const struct pyjson *results);

#endif
