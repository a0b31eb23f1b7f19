/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SPREAD_H
#define REPORT_SPREAD_H

#include "base/error.h"
#include "report/gather.h"

/* Tables of the spread of runs: of each cell, IQM over tasks, scores over steps and cost. */
void spread_tables(const struct report *r);

/* Compares two models over the tasks that both have. -ENOENT: a model has no runs. */
int spread_compare(const struct report *r, const char *a, const char *b, struct fh_error *err);

#endif
