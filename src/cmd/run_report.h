/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_REPORT_H
#define CMD_RUN_REPORT_H

#include "run/episode.h"

#include <math.h>

/* Results of episodes: a sentence, a table, a JSON object. */

/* The best score. NAN without a score, and after a failure, which is not the model's result. */
static inline double run_report_result(const struct episode *e)
{
	return e->failed ? NAN : e->scores.best_value;
}

/* "titanic:micro", "titanic" for a task without variants. The requested name until it is opened. */
char *run_report_task(const struct episode *e); /* heap */

/* "4.1 s", "2 m 05 s" since it began. Heap. */
char *run_report_time(const struct episode *e);

/* "0.81", or "-" for NAN. Heap. */
char *run_report_number(double v);

/* "1.0227 -> 1.357": baseline and best. Heap; "" when neither is known. */
char *run_report_scores(const struct episode *e);

/* Adds "submitted after 7 steps, ..." about an episode that ended. */
void run_report_sentence(struct buf *out, const struct episode *e);

/* Adds a table of the episodes that were begun, and the paths of their records. */
void run_report_table(struct buf *out, const struct episode *episodes, size_t n, bool colours);

/* Adds a table of mean and deviation if there are several runs or models. */
void run_report_spread(struct buf *out, const struct episode *episodes, size_t n, bool colours);

/* Adds the JSON line of an episode that ended. */
void run_report_json(struct buf *out, const struct episode *e);

#endif
