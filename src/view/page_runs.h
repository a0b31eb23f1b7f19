/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_PAGE_RUNS_H
#define VIEW_PAGE_RUNS_H

#include "view/request.h"

/* Answers with the list of runs. */
void page_runs(struct page *p);

/* Answers with the scored steps of all runs of a run's task. */
void page_points(struct page *p);

#endif
