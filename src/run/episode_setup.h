/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_SETUP_H
#define RUN_EPISODE_SETUP_H

#include "agent/config.h"
#include "base/arena.h"
#include "run/warner.h"

#include <fumehood/env.h>

/* Sets up an episode's shells: the agent's commands, and an aliases file. */

/* Finds the file of --aliases-file, whose path may be relative to the MLGym checkout. *out is its
 * absolute path, in the arena, and unchanged if `path` is NULL. With a checkout a missing file only
 * gives a warning, because MLGym's own scripts name docker/aliases.sh, which its checkout lacks. */
int episode_aliases(const char *path, const char *mlgym_root, const struct warner *warner,
		struct arena *arena, const char **out, struct fh_error *err);

/* Values of --tools. [0]: Fumehood's programs replace commands of MLGym's with the same names.
 * [1]: MLGym's commands run. */
extern const char *const episode_tools[];

/* Warns if Fumehood's programs replace commands of MLGym's. */
void episode_say_tools(const struct agent_config *agent, const struct warner *warner);

/* Sets up an episode's shells. Call it before the reset. agent and aliases may be NULL.
 * edits_at_once: start the linter of the agent's editor now (see struct command_setup). */
int episode_set_up(struct fh_env *env, const struct agent_config *agent, const char *aliases,
		bool edits_at_once, struct fh_error *err);

/* Makes the checks of episode_set_up() on an agent's commands and aliases, before there is an
 * environment. Sets nothing up. -EINVAL: something is wrong. */
int episode_check_setup(
		const struct agent_config *agent, const char *aliases, struct fh_error *err);

#endif
