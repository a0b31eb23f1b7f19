/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MAKE_H
#define ENV_MAKE_H

#include "base/secret.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

/*
 * Makes the task's generated data sets that are missing; docs/tasks.md says how. Blocks for their
 * `timeout` at most. Other processes wait meanwhile, for a lock of the file system. On failure no
 * file of the data set is left.
 */
int make_data(struct owner *owner, const struct secret *secret, const struct task *task,
		struct fh_error *err);

#endif
