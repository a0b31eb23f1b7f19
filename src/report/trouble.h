/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_TROUBLE_H
#define REPORT_TROUBLE_H

#include "report/gather.h"

/* A table of the runs in which something went wrong, with their paths. */
void trouble_table(const struct report *r);

#endif
