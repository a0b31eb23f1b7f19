/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_CLOSE_H
#define ENV_CLOSE_H

#include <fumehood/env.h>

/* Frees all of an environment but its spec and its interrupter. */
void env_release(struct fh_env *env);

/* Frees environments that were closed while a thread opened them, if the thread has ended. */
void env_free_left(struct fh_gym *gym);

#endif
