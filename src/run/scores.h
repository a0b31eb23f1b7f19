/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_SCORES_H
#define RUN_SCORES_H

#include "base/buf.h"
#include "python/pyjson.h"

#include <fumehood/env.h>

#include <stdbool.h>

/* Scores of one episode. A value is that of the task's metric; NAN: none. */
struct run_scores {
	char *metric;
	bool maximize;
	struct buf all;            /* JSON: the objects of all scores, with commas between them */
	struct buf baseline, best; /* JSON: an object or null */
	double baseline_value, best_value;
	double last_value; /* the last step's */
};

void run_scores_init(struct run_scores *s);
void run_scores_release(struct run_scores *s);

/* Call it when the environment is open, and then after each step. */
void run_scores_begin(struct run_scores *s, const struct fh_env_info *info);
void run_scores_add(struct run_scores *s, const struct fh_step *step);

/* Takes scores from a record: its event `open`, and the list in results.json, which may be NULL. */
void run_scores_read(struct run_scores *s, const struct pyjson *open, const struct pyjson *results);

#endif
