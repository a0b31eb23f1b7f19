/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_MIX_H
#define REPORT_MIX_H

#include "report/gather.h"

/* The table `mixed`, and a note: what the runs of a task differ in that their scores depend on. */
void mix_table(const struct report *r);

#endif
