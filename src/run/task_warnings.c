/* SPDX-License-Identifier: Apache-2.0 */
#include "run/task_warnings.h"

#include "base/path.h"
#include "task/mlgym.h"
#include "task/requirements.h"

#define WARNINGS_MISSING_BYTES_MAX 4096

/* Returns true if the options give the task another Python than this machine's own. */
static bool task_warnings_has_python(const struct fh_env_options *env)
{
	for (size_t i = 0; i < env->n_binds; i++) {
		const struct fh_bind *bind = &env->binds[i];

		if (path_is_within(MLGYM_CONDA_PYTHON, bind->target ? bind->target : bind->source))
			return true;
	}
	return env->python;
}

void task_warnings_say(const struct warner *warner, const struct task *task,
		const struct fh_env_options *env)
{
	auto_buf struct buf missing = BUF_INIT(WARNINGS_MISSING_BYTES_MAX);

	for (size_t i = 0; i < task->n_warnings; i++)
		warner_say(warner, "%s", task->warnings[i]);
	if (task->mlgym && !env->python && task_warnings_has_python(env))
		warner_say(warner,
				"%s: programs such as pip and torchrun don't run in an environment that is "
				"bound at " MLGYM_CONDA_ENV "; with --python ENV they do",
				task->id);
	if (task_warnings_has_python(env) || requirements_missing(task, NULL, &missing, NULL) < 0 ||
			!missing.len)
		return;
	warner_say(warner,
			"%s: this machine's Python lacks %s; --python ENV shows one that has them",
			task->id, buf_str(&missing));
}
