/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_PAPER_H
#define REPORT_PAPER_H

#include "report/gather.h"

/* The tables of MLGym's paper: scores, ranks, performance profiles, AUP. The baseline competes. */
void paper_tables(const struct report *r);

#endif
