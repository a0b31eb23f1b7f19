/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_REQUIREMENTS_H
#define TASK_REQUIREMENTS_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Appends the missing packages of a requirements.txt, as in "jax, flax". A package is missing if
 * the Python environment `python` lacks it (NULL: this machine's Python). Names are compared as pip
 * compares names. Versions are not compared. Lines with options, addresses or conditions are
 * skipped.
 */
int requirements_missing(
		const char *path, const char *python, struct buf *out, struct fh_error *err);

#endif
