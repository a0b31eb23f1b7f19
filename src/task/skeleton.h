/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_SKELETON_H
#define TASK_SKELETON_H

#include "task/task.h"

/*
 * Makes a new task, which runs and passes `fumehood task check`, for its author to change. The task
 * is a copy of the installed templates/<kind> at `dir`/`id`. -EEXIST: the folder exists. -EINVAL:
 * `id` can't be a name.
 */
int task_skeleton(const char *dir, const char *id, enum grader_kind kind, struct fh_error *err);

#endif
