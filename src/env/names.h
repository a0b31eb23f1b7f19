/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_NAMES_H
#define ENV_NAMES_H

#include "base/buf.h"

#include <fumehood/env.h>

/*
 * What a path that begins so may be, for people who type it: as bash in the folder that the episode's shell is in would
 * complete it. Appends lines, a folder's with a slash at its end; none, if it can't be told. Blocks, a second at most.
 * It is no step: nothing is recorded, and the shell does not see it.
 */
void env_names(struct fh_env *env, const char *start, struct buf *out);

#endif
