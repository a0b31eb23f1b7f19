/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_SPREAD_H
#define CMD_RUN_SPREAD_H

#include "base/buf.h"
#include "run/episode.h"

/* Appends a table with mean and deviation of scores, if there are several runs or models. */
void run_spread_table(struct buf *out, const struct episode *episodes, size_t n, bool colours);

#endif
