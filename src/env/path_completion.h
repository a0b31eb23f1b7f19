/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_PATH_COMPLETION_H
#define ENV_PATH_COMPLETION_H

#include "base/buf.h"
#include "sandbox/sandbox.h"

/*
 * Completes a path for a person who types it, as bash in the folder `cwd` of the sandbox would.
 * Appends the matches as lines; a folder's name ends with a slash. On failure appends nothing.
 * Blocks for a second at most. The agent's shell does not notice it.
 */
void path_completion_list(struct sandbox *sb, const char *cwd, const char *start, struct buf *out);

#endif
