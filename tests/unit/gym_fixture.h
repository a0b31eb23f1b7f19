/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYM_FIXTURE_H
#define GYM_FIXTURE_H

#include "fixture.h"

#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"

#include <fumehood/env.h>

/*
 * Opens a gym, which plays episodes, with the tasks of tests/tasks and its own state folder. It is
 * open from gym_setup() to gym_teardown(). Sandboxes and graders are real.
 */

static struct fh_gym *gym;
static char state_dir[FOLDER_MAX];
static struct fh_error error;
static struct fh_step step;

static inline void open_gym(void)
{
	auto_free char *tasks = path_join(places_get()->share_dir, "tests/tasks");
	struct fh_gym_options options = FH_GYM_OPTIONS(.tasks_dir = tasks, .state_dir = state_dir);

	assert_done(fh_gym_open(&options, &gym, &error));
}

static inline int gym_setup(void **state)
{
	assert_int_equal(folder_make(state_dir), 0);
	open_gym();
	return 0;
}

static inline int gym_teardown(void **state)
{
	fh_gym_close(gym);
	gym = NULL;
	return folder_remove(state_dir);
}

/* An environment that fh_gym_wait() waits for. */
static inline struct fh_env *open_env(const char *task)
{
	struct fh_env *env;

	assert_done(fh_env_open(gym, &FH_ENV_OPTIONS(.task = task, .polled = true), &env, &error));
	return env;
}

/* Opens an environment of a task, and resets it with seed 0. */
static inline struct fh_env *open_episode(const char *task)
{
	struct fh_env *env = open_env(task);

	assert_done(fh_env_reset(env, NULL, &step, &error));
	return env;
}

/* Plays an action in an environment, and stores the result in the global `step`. */
static inline void act(struct fh_env *env, const char *text)
{
	assert_done(fh_env_step(env, &FH_ACTION(.text = text), &step, &error));
}

static inline void act_within(struct fh_env *env, const char *text, double timeout_s)
{
	struct fh_action action = FH_ACTION(.text = text, .timeout_s = timeout_s);

	assert_done(fh_env_step(env, &action, &step, &error));
}

/* Whether the operation of `env`, the only running one, has ended. */
static inline bool is_over(struct fh_env *env)
{
	struct fh_env *done = NULL;
	int n = fh_gym_wait(gym, 0, &done, 1, &error);

	assert_done(n);
	if (n)
		assert_ptr_equal(done, env);
	return n;
}

#endif
