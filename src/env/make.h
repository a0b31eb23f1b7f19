/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MAKE_H
#define ENV_MAKE_H

#include "base/secret.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

/*
 * Makes the task's generated data sets that are not there yet; docs/tasks.md says how. It blocks,
 * for their `timeout` at most. A lock of the file system keeps other processes waiting meanwhile.
 * On failure nothing of the data set is left.
 */
int make_data(struct owner *owner, const struct secret *secret, const struct task *task,
		struct fh_error *err);

#endif
