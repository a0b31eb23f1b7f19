/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_REQUIREMENTS_H
#define TASK_REQUIREMENTS_H

#include "base/buf.h"
#include "base/error.h"
#include "task/task.h"

/*
 * Appends the packages that a task needs and that are missing, as in "jax, flax of
 * requirements.txt". Appends nothing if none is missing. A package is missing if the Python
 * environment `python` lacks it (NULL: this machine's Python). Names are compared as pip compares
 * names. Versions are not compared. Lines of requirements.txt with options, addresses or
 * conditions are skipped. Fails if that file can't be read.
 */
int requirements_missing(
		const struct task *task, const char *python, struct buf *out, struct fh_error *err);

#endif
