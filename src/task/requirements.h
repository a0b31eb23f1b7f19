/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_REQUIREMENTS_H
#define TASK_REQUIREMENTS_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Appends which packages of a requirements.txt the environment `python` lacks, NULL for this machine's Python:
 * "jax, flax"; nothing when it has them all. It goes by the names of what is installed, as pip compares them; versions are not looked at, nor
 * lines that only pip can tell the meaning of: options, addresses, conditions.
 */
int requirements_missing(
		const char *path, const char *python, struct buf *out, struct fh_error *err);

#endif
