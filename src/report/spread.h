/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SPREAD_H
#define REPORT_SPREAD_H

#include "report/gather.h"

/* Tables of the spread of runs: of each cell, IQM over tasks, scores over steps and cost. */
void spread_tables(const struct report *r);

#endif
