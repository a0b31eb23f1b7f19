/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_RESET_H
#define ENV_RESET_H

#include <fumehood/env.h>

/*
 * Ends the present episode and begins the next one, in a new sandbox. On failure there is no
 * episode, except on -EBUSY: a reset or step is under way.
 */
int reset_begin(struct fh_env *env, const struct fh_reset *reset, struct fh_error *err);
void reset_advance(struct fh_env *env);

/* Has the reset fail with -ECANCELED, after an agent's memory that is being kept. */
void reset_cancel(struct fh_env *env);

#endif
