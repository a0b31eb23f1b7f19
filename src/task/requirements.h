/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_REQUIREMENTS_H
#define TASK_REQUIREMENTS_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Appends the packages of a requirements.txt that the environment `python` (NULL: this machine's
 * Python) lacks, as in "jax, flax". It compares names as pip does. It ignores versions, and lines
 * with options, addresses or conditions.
 */
int requirements_missing(
		const char *path, const char *python, struct buf *out, struct fh_error *err);

#endif
