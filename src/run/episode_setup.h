/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_SETUP_H
#define RUN_EPISODE_SETUP_H

#include "agent/config.h"
#include "base/arena.h"
#include "run/warner.h"

#include <fumehood/env.h>

/* The setup of an episode's shells: the agent's commands, and aliases. */

/* The absolute path of a file of aliases; a relative one may begin in the checkout. Lives in the
 * arena. NULL: none was named, or it is missing, with a warning: MLGym's own scripts name such a
 * file. */
const char *episode_aliases(const char *path, const char *mlgym_root, const struct warner *warner,
		struct arena *arena);

/* Values of --tools: [0] our programs replace MLGym's commands that they equal, [1] they don't. */
extern const char *const episode_tools[];

/* Warns that our programs run in place of MLGym's commands, if they do. */
void episode_say_tools(const struct agent_config *agent, const struct warner *warner);

/* Call it before the reset. agent and aliases may be NULL. edits_at_once: see struct
 * command_setup. */
int episode_set_up(struct fh_env *env, const struct agent_config *agent, const char *aliases,
		bool edits_at_once, struct fh_error *err);

/* Checks the same without an environment. -EINVAL. */
int episode_check_setup(
		const struct agent_config *agent, const char *aliases, struct fh_error *err);

#endif
