/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MAKE_H
#define ENV_MAKE_H

#include "base/cancel.h"
#include "base/secret.h"
#include "sandbox/python.h"
#include "sandbox/sandbox.h"
#include "task/dataset.h"
#include "task/task.h"

/*
 * Makes the task's generated data sets that are missing; docs/tasks.md says how. Blocks for the
 * `timeout` of each at most. It also waits, for a lock of the file system, while another process
 * makes one. A request to `cancel` ends the waiting. On failure no file of the data set is left.
 * The programs use the packages of `python`; an empty one means this machine's Python.
 */
int make_data(struct owner *owner, const struct secret *secret, const struct task *task,
		const struct python_env *python, struct cancel *cancel, struct fh_error *err);

/*
 * Makes a data set's files from fetched ones by the program of its `layout`, which sees them in
 * /fetched. The program has no network and no more rights than an agent. Blocks for the layout's
 * `timeout` at most. A file is complete or missing.
 */
int make_layout(struct owner *owner, const struct dataset *dataset, const struct python_env *python,
		struct fh_error *err);

#endif
