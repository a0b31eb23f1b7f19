/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_EFFORT_H
#define REPORT_EFFORT_H

#include "report/gather.h"

/* Tables of what runs took and how they ended: costs, tokens, times, errors, exit statuses,
 * actions, steps of training. */
void effort_tables(const struct report *r);

#endif
