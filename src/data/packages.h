/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_PACKAGES_H
#define DATA_PACKAGES_H

#include "sandbox/python.h"

/* Checks that an environment, or this machine's Python if `python` is empty, has the packages, a
 * NULL-terminated list. -ENODATA: some are missing; the message names them. */
int packages_check(struct owner *owner, const struct python_env *python,
		const char *const *packages, struct fh_error *err);

#endif
