/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_DRIVE_H
#define ENV_DRIVE_H

#include <fumehood/env.h>

/*
 * Drives turns to their end, for every kind of turn. `r` is the result of the function that began
 * the turn. Both functions return it if it is negative. env_block() then blocks until the turn has
 * ended. env_start() leaves the turn to fh_env_wait(), or to the gym's poller if the environment is
 * polled.
 */
int env_block(struct fh_env *env, int r, struct fh_step *out, struct fh_error *err);
int env_start(struct fh_env *env, int r);

#endif
