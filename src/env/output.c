/* SPDX-License-Identifier: Apache-2.0 */
#include "env/output.h"

#include "env/env.h"
#include "shell/session.h"

const struct buf *env_output(const struct fh_env *env)
{
	return env->work == WORK_COMMAND ? session_output(env->session) : NULL;
}
