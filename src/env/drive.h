/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_DRIVE_H
#define ENV_DRIVE_H

#include <fumehood/env.h>

/*
 * The two forms of the API, for every kind of turn. `r` is the result of the function that began
 * the turn. Both return it if it is negative. env_block() then blocks until the turn has ended.
 * env_poll() adds the environment to its gym's poller.
 */
int env_block(struct fh_env *env, int r, struct fh_step *out, struct fh_error *err);
int env_poll(struct fh_env *env, int r);

#endif
