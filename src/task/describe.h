/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_DESCRIBE_H
#define TASK_DESCRIBE_H

#include "task/task.h"

/* Fills in {dataset_docs} and {training_timeout}, and leaves all other braces. The result is of the task's arena. */
const char *task_describe(struct task *task, const char *description);

#endif
