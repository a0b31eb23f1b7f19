/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TASK_WARNINGS_H
#define RUN_TASK_WARNINGS_H

#include "run/warner.h"
#include "task/task.h"

#include <fumehood/env.h>

/* Says the task's warnings, and which of its packages this machine's Python lacks. Only the options
 * `binds` and `python` are used: they may show another Python. */
void task_warnings_say(const struct warner *warner, const struct task *task,
		const struct fh_env_options *env);

#endif
