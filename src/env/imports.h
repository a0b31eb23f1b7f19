/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_IMPORTS_H
#define ENV_IMPORTS_H

#include "env/env.h"

/*
 * Finds modules that an MLGym task's programs import and its Python lacks. That Python is asked, in a sandbox
 * of the task with the environment's binds, once for all environments that have the same ones. Nothing of the task is
 * run. -ENOPKG: its evaluator can't run. What starter code lacks becomes env->warning.
 */
int imports_check(struct fh_env *env, struct fh_error *err);

/* The same for a task that is not to be played: its baseline is not. *out_warning is the caller's; NULL: there is none. In
 * env.c. */
int env_look_at_imports(struct fh_gym *gym, const struct fh_env_options *options,
		char **out_warning, struct fh_error *err);

struct imports;
void imports_free(struct imports *list); /* NULL is fine */

#endif
