/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_BIND_H
#define SANDBOX_BIND_H

#include "base/error.h"

#include <stdbool.h>

/* A file or folder of this machine that a sandbox sees. It is read-only, unless
 * sandbox_options.writable names its source. */
struct sandbox_bind {
	const char *source; /* absolute path on this machine */
	const char *target; /* absolute path inside the sandbox */
};

/*
 * Checks a bind. -EINVAL for a path that is not absolute. -EINVAL for a target that would hide a
 * part that a sandbox needs (/usr, /proc, ...). sandbox_start() refuses the same binds.
 */
int sandbox_bind_check(const struct sandbox_bind *bind, struct fh_error *err);

/*
 * Returns true if a bind at `target`, a path inside a sandbox, would hide something that every
 * sandbox needs.
 */
bool sandbox_bind_hides_needed(const char *target);

#endif
