/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_OPEN_H
#define ENV_OPEN_H

#include <fumehood/env.h>

/*
 * Does the part of fh_env_open() that loads a task and checks its imports. Plays no baseline.
 * Blocks. -ENOPKG: the task's evaluator can't run. The caller frees *out_warning; NULL: no module
 * is missing.
 */
int env_check_imports(struct fh_gym *gym, const struct fh_env_options *options, char **out_warning,
		struct fh_error *err);

#endif
