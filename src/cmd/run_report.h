/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_REPORT_H
#define CMD_RUN_REPORT_H

#include "python/pyjson.h"
#include "run/episode.h"

#include <math.h>

/* Results of episodes: a sentence, a table, a JSON object. */

/* Best score of an episode. NAN if there is none, or the episode failed: its scores are not result
 * of the model. */
static inline double run_report_result(const struct episode *e)
{
	return e->failed ? NAN : e->scores.best_value;
}

/* Name of an episode's task: "titanic:micro", or "titanic" without variants. Until the task is
 * opened, the name that the user gave. A heap string. */
char *run_report_task(const struct episode *e);

/* Returns the time since the episode began: "4.1 s", "2 m 05 s". A heap string. */
char *run_report_time(const struct episode *e);

/* Returns a score as text: "0.81", or "-" for NAN. A heap string. */
char *run_report_number(double v);

/* Returns the scores of the baseline and the episode's best: "1.0227 -> 1.357". A heap string, ""
 * when neither is known. */
char *run_report_scores(const struct episode *e);

/* Appends a sentence about an episode that ended: "submitted after 7 steps, ...". */
void run_report_sentence(struct buf *out, const struct episode *e);

/* Appends a table of the episodes that began. */
void run_report_table(struct buf *out, const struct episode *episodes, size_t n, bool colours);

/* Appends the paths of the runs' records. Leaves out a run whose record is incomplete. */
void run_report_paths(struct buf *out, const struct episode *episodes, size_t n);

/* Writes the JSON keys "task" and "variant" of an episode. The variant is null until the episode is
 * opened. */
void run_report_put_task(struct pyjson_writer *w, const struct episode *e);

/* Appends the JSON line of an episode that ended. */
void run_report_json(struct buf *out, const struct episode *e);

#endif
