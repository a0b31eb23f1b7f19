/* SPDX-License-Identifier: Apache-2.0 */
#include "env/close.h"

#include "base/fork_mark.h"
#include "base/job.h"
#include "base/scope.h"
#include "env/env.h"
#include "env/state.h"

#include <stdlib.h>

void env_release(struct fh_env *env)
{
	turn_drop(env);
	memory_release(&env->memory);
	setup_release(&env->setup);
	score_release(&env->baseline);
	env_episode_release(&env->episode);
	env_result_release(&env->result);
	env_hide(env, NULL);
	free(take_ptr(env->welcome));
	free(take_ptr(env->agent.script));
}

/* Waits for the end of the thread that opens the environment, if one does. */
static void close_free(struct fh_env *env)
{
	if (env->opening)
		job_end(env->opening, NULL);
	env_release(env);
	env_spec_release(&env->spec);
	fh_interrupter_free(env->interrupter);
	free(env);
}

/* Takes an environment from the list whose thread has ended, or any one. NULL: there is none. */
static struct fh_env *close_take_left(struct fh_gym *gym, bool any)
{
	auto_unlock pthread_mutex_t *held = scope_lock(&gym->lock);

	for (struct fh_env **at = &gym->left; *at; at = &(*at)->next_left) {
		struct fh_env *env = *at;

		if (any || job_is_over(env->opening)) {
			*at = env->next_left;
			return env;
		}
	}
	return NULL;
}

void env_free_left(struct fh_gym *gym)
{
	struct fh_env *env;

	while ((env = close_take_left(gym, false)))
		close_free(env);
}

/* Has the thread that opens the environment end soon, and does not wait for it. */
static void close_leave_opening(struct fh_env *env)
{
	struct fh_gym *gym = env->spec.gym;

	if (env->item.polled)
		poller_unwatch(&gym->poller, job_fd(env->opening));
	poller_forget(&gym->poller, &env->item);
	cancel_ask(&env->interrupter->cancel);
	pthread_mutex_lock(&gym->lock);
	env->next_left = gym->left;
	gym->left = env;
	pthread_mutex_unlock(&gym->lock);
}

/*
 * Saves the agent's memory. Blocks for the sandbox' answer, which has a deadline, and for a job
 * that merges memories.
 */
static void close_keep_memory(struct fh_env *env)
{
	if (env->turn.work != WORK_MEMORY && !turn_keep_memory(env))
		return;
	while (!turn_memory_is_kept(env)) {
		struct waits w = WAITS_INIT;

		memory_waits(&env->memory, env->episode.sb, &w);
		waits_poll(&w);
	}
}

void fh_env_close(struct fh_env *env)
{
	struct fh_gym *gym = env ? env->spec.gym : NULL;

	if (!env || gym_check_process(gym, NULL) < 0)
		return;
	if (env->opening && !job_is_over(env->opening)) {
		close_leave_opening(env);
	} else {
		close_keep_memory(env);
		close_free(env);
	}
	env_free_left(gym);
}

void fh_gym_close(struct fh_gym *gym)
{
	struct fh_env *env;

	if (!gym || !fork_is_marked(gym->mark))
		return;
	while ((env = close_take_left(gym, true)))
		close_free(env);
	gym_free(gym);
}
