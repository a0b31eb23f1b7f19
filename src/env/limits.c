/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/json.h"
#include "env/env.h"

/* What ends an episode beside its steps: its time, and the size of its record. */

bool limits_time_is_over(const struct fh_env *env)
{
	return env->wall_end_ns != INT64_MAX && clock_now_ns() >= env->wall_end_ns;
}

/* A larger record could not be written or read back. */
bool limits_text_is_full(struct fh_env *env)
{
	if (!env->max_text_bytes)
		return false;
	env->text_bytes += (int64_t)json_text_bytes(buf_str(&env->observation));
	if (env->state)
		env->text_bytes += (int64_t)json_text_bytes(env->state);
	return env->text_bytes > env->max_text_bytes;
}
