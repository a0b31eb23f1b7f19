/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_OUTPUT_H
#define ENV_OUTPUT_H

#include "base/buf.h"

#include <fumehood/env.h>

/* What the action's command has printed so far, for people who wait for it: bytes, which the observation may fold.
 * Lives until the environment is advanced; NULL while no command of an action runs. */
const struct buf *env_output(const struct fh_env *env);

#endif
