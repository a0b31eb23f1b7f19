/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_PAIR_H
#define REPORT_PAIR_H

#include "base/error.h"
#include "report/gather.h"

/* Compares two models over the tasks that both have. -ENOENT: a model has no runs. */
int pair_tables(const struct report *r, const char *a, const char *b, struct fh_error *err);

#endif
