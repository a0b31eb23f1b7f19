/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TASK_WARNINGS_H
#define RUN_TASK_WARNINGS_H

#include "run/warner.h"
#include "task/task.h"

#include <fumehood/env.h>

/* Passes the task's warnings to the user, and warns of needed packages that this machine's Python
 * lacks. Uses only `binds` and `python` of `env`. If they give the task another Python, packages
 * are not looked up. */
void task_warnings_say(const struct warner *warner, const struct task *task,
		const struct fh_env_options *env);

#endif
