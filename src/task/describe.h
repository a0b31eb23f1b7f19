/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_DESCRIBE_H
#define TASK_DESCRIBE_H

#include "task/task.h"

/* The description with {dataset_docs} and {training_timeout} filled in; anything else in braces
 * stays. Lives in the task's arena. */
const char *task_describe(struct task *task, const char *description);

#endif
