/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_ENV_H
#define ENV_ENV_H

#include "base/buf.h"
#include "env/setup.h"

#include <fumehood/env.h>

/* Operations on an environment for other layers, beside the public API. */

/* Replaces the tools' setup from the next reset on; NULL takes it away. All is copied. -EBUSY,
 * -EINVAL, -E2BIG. */
int env_set_setup(struct fh_env *env, const struct env_setup *setup, struct fh_error *err);

/* The end word of the text that a command on this line takes (multiline.h); NULL: the line is
 * complete. Lives until the next env_set_setup(). */
const char *env_multiline_end(const struct fh_env *env, const char *line);

/* Shows "[key]" instead of the secret in all that steps give from now on (base/hide.h). A server
 * that knows the secret may have the agent print it. It is copied; NULL: none. */
void env_hide(struct fh_env *env, const char *secret);

/* The JSON object that the state command printed after the last reset or step: untrusted. NULL:
 * none. Lives as a step does. */
const char *env_state(const struct fh_env *env);

/* The agent's memory as the episode began; NULL: none. Lives until the next reset. */
const struct buf *env_memory(const struct fh_env *env);

/*
 * Begins to end, in the pollable form, an episode that is closed before its end: its memory is
 * kept. False if there is nothing to wait for. fh_gym_wait() gives it within seconds, and
 * fh_env_end() takes it.
 */
bool env_leave_begin(struct fh_env *env);

/* Output of the action's command so far, for people who wait for it: bytes, which the observation
 * may fold. Lives until the environment is advanced; NULL while no command of an action runs. */
const struct buf *env_output(const struct fh_env *env);

/* Completes a path in the shell's folder, between steps: names.h. It is no step, and not
 * recorded. */
void env_names(struct fh_env *env, const char *start, struct buf *out);

#endif
