/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_TROUBLE_H
#define REPORT_TROUBLE_H

#include "report/gather.h"

#define TROUBLE_ROWS 20
#define TROUBLE_ROWS_BRIEF 5

/* A table of the runs in which something went wrong, with their paths: the `most` worst. */
void trouble_table(const struct report *r, size_t most);

#endif
