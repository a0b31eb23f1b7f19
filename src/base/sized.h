/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "base/error.h"

#include <stddef.h>

/*
 * Reads a struct of the public API that a caller has filled. It begins with a size_t `size`, which
 * may be that of an older or newer version (fumehood/version.h). *out gets the members of this
 * version, and `name` is for messages. NULL gives a struct of zeros. -EINVAL: `size` is not set.
 * -E2BIG: a member that this version lacks is not 0.
 */
int sized_read(void *out, size_t size, const void *given, const char *name, struct fh_error *err);

/* Reads `given` into the struct *out of the type `struct TYPE`. */
#define SIZED_READ(type, out, given, err) sized_read(out, sizeof(struct type), given, #type, err)

#endif
