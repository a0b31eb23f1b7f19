/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SPREAD_H
#define REPORT_SPREAD_H

#include "report/gather.h"

/* Adds the tables that show how much runs differ: by cell, by task, and by steps and cost. */
void spread_tables(const struct report *r);

#endif
