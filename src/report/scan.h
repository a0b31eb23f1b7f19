/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SCAN_H
#define REPORT_SCAN_H

#include "report/row.h"

/*
 * Reads one record into numbers. It may be an events.jsonl, a .traj, a .json that holds either form
 * of MLGym's, or a results.json alone. The record is untrusted: sizes and counts are capped.
 */

/* Tasks that were looked up, so that each is read once. Initialise with zeros. */
struct scan_tasks {
	struct scan_task *items;
	size_t n;
	struct arena arena;
	const char *tasks_dir; /* folder of tasks that is searched first; NULL: none */
};

/* Gives the metric of MLGym's task where Fumehood's task of the same name has another. NULL: it has
 * the same, or there is none. */
const char *scan_metric_of_mlgym(const char *task, bool *out_maximize);

void scan_tasks_release(struct scan_tasks *tasks);

/* Fills the row of the record at `path`. If it can't be read, sets row->problem. */
void scan_record(struct arena *a, struct scan_tasks *tasks, const char *path, struct run_row *row);

#endif
