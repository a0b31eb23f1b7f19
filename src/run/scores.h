/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_SCORES_H
#define RUN_SCORES_H

#include "base/buf.h"
#include "python/pyjson.h"

#include <fumehood/env.h>

#include <stdbool.h>

/* Scores of one episode. Each `..._value` is the value of the task's metric; NAN: no score. */
struct run_scores {
	char *metric;
	bool maximize;
	struct buf all;            /* all scores as JSON objects, with commas between */
	struct buf baseline, best; /* scores as JSON: an object or null */
	double baseline_value, best_value;
	double last_value; /* value of the last step */
};

void run_scores_init(struct run_scores *s);
void run_scores_release(struct run_scores *s);

/* Collects an episode's scores. Call the first when the environment is open, the second after each
 * step. */
void run_scores_begin(struct run_scores *s, const struct fh_env_info *info);
void run_scores_add(struct run_scores *s, const struct fh_step *step);

/* Reads an episode's scores from its record. `open` is the "open" event. `results` is the list in
 * results.json, or NULL. */
void run_scores_read(struct run_scores *s, const struct pyjson *open, const struct pyjson *results);

#endif
