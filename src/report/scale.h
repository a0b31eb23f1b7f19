/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SCALE_H
#define REPORT_SCALE_H

#include "report/gather.h"

/* Normalised scores of a task, which can be compared with those of another: 0 is the baseline. */

/* Number that makes 1 of `best` and 0 of the baseline. NAN: the task has no such scale. */
double scale_to(const struct report_task *task, double best);

/* The same number for the best score of all runs of a task. */
double scale_of(const struct report *r, size_t task);

/* Normalises a score. A run without a score counts as the baseline: it gained nothing. */
double scale_score(const struct report *r, size_t task, double scale, double score);

#endif
