/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_REPORT_H
#define CMD_RUN_REPORT_H

#include "run/episode.h"

#include <math.h>

/* What `fumehood run` says about its episodes: a sentence, a table, a JSON object. */

/* Its best score; NAN: none, or it broke: what an outage left of a run is no result of the model's. */
static inline double run_report_result(const struct episode *e)
{
	return e->failed ? NAN : e->scores.best_value;
}

/* "titanic:micro", "titanic" for a task without variants, what was asked for before it is known. */
char *run_report_task(const struct episode *e); /* heap */

/* "4.1 s", "2 m 05 s" since it began. Heap. */
char *run_report_time(const struct episode *e);

/* "0.81", or "-" for NAN. Heap. */
char *run_report_number(double v);

/* "1.0227 -> 1.357": baseline and best. Heap; "" when neither is known. */
char *run_report_scores(const struct episode *e);

/* One line about an episode that ended: "submitted after 7 steps, ...". */
void run_report_sentence(struct buf *out, const struct episode *e);

/* A table of those that were begun, and where to look. */
void run_report_table(struct buf *out, const struct episode *episodes, size_t n, bool colours);

/* Where several runs, or models, are to be compared: a table of their spread. Nothing otherwise. */
void run_report_spread(struct buf *out, const struct episode *episodes, size_t n, bool colours);

/* The line of one episode that ended for programs. */
void run_report_json(struct buf *out, const struct episode *e);

#endif
