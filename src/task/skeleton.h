/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_SKELETON_H
#define TASK_SKELETON_H

#include "task/task.h"

/*
 * A new task for its author to change, which runs and passes the check: a copy of templates/<kind>
 * of the share folder as `dir`/`id`, which must not exist. -EEXIST; -EINVAL for what can't be a name.
 */
int task_skeleton(const char *dir, const char *id, enum grader_kind kind, struct fh_error *err);

#endif
