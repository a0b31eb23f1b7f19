/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_PUT_H
#define ENV_PUT_H

#include "task/task.h"

#include <fumehood/env.h>

/*
 * Writes a task's files and folders into the workspace, as fh_env_put_file() does. The files are
 * not recorded, so a replay lacks them.
 */
int env_put_files(
		struct fh_env *env, const struct task_file *files, size_t n, struct fh_error *err);

#endif
