/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_VARIABLES_H
#define ENV_VARIABLES_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>

/* Variables of an episode's shells: fh_env_options.variables, each of them "NAME=VALUE". */
struct variables {
	const char *const *items;
	size_t n;
};

/* Checks and copies variables. -EINVAL: a name is malformed, or the shell sets it itself. -E2BIG:
 * there are too many. */
int variables_copy(struct arena *a, const char *const *given, size_t n, struct variables *out,
		struct fh_error *err);

/* Returns the variable as a shell gets it: $PATH in the value of PATH is replaced by `path`. */
const char *variable_expand(struct arena *a, const char *variable, const char *path);

#endif
