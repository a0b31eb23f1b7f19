/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_LOAD_PARTS_H
#define TASK_LOAD_PARTS_H

#include "task/loading.h"

/* Functions that load parts of a task. Call them in this order: paths may name data sets, and
 * binds must not show hidden files. */
int task_load_datasets(struct task_loading *l);
/* Loads the files of the keys `starter_code`, `hidden`, `secret_files`, `solution`,
 * `baseline_files`, `memory_path` and `demo`. */
int task_load_files(struct task_loading *l);
int task_load_grader(struct task_loading *l);
int task_load_baseline(struct task_loading *l);
int task_load_binds(struct task_loading *l);

#endif
