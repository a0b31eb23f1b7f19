/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_SKELETON_H
#define TASK_SKELETON_H

#include "task/task.h"

/*
 * Copies the share folder's templates/<kind> to `dir`/`id`: a new task that runs and passes the
 * check, for its author to change. -EEXIST: the folder exists. -EINVAL: `id` can't be a name.
 */
int task_skeleton(const char *dir, const char *id, enum grader_kind kind, struct fh_error *err);

#endif
