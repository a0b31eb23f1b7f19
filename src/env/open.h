/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_OPEN_H
#define ENV_OPEN_H

#include "task/find.h"

#include <fumehood/env.h>

/*
 * Does the part of fh_env_open() that loads a task and checks its imports. Plays no baseline.
 * Blocks. -ENOPKG: the task's evaluator can't run. The caller frees *out_warning; NULL: no module
 * is missing.
 */
int env_check_imports(struct fh_gym *gym, const struct fh_env_options *options, char **out_warning,
		struct fh_error *err);

/* Returns the options with which the environment was opened. They live as long as it does. */
const struct fh_env_options *env_given(const struct fh_env *env);

/* Returns the folders in which the environment's gym looks up tasks. */
struct task_places env_places(const struct fh_env *env);

#endif
