/* SPDX-License-Identifier: Apache-2.0 */
#include "run/episode_setup.h"

#include "agent/command_setup.h"
#include "agent/own_tools.h"
#include "base/path.h"
#include "base/scope.h"
#include "env/env.h"

#include <errno.h>
#include <stdlib.h>

const char *const episode_tools[] = { "own", "original", NULL };

void episode_say_tools(const struct agent_config *agent, const struct warner *warner)
{
	if (!agent->original_tools && own_tools_fit(agent->files, agent->n_files))
		warner_say(warner,
				"MLGym's commands (open, edit, ...) are replaced by equal ones that "
				"are faster: --tools original keeps MLGym's");
}

int episode_aliases(const char *path, const char *mlgym_root, const struct warner *warner,
		struct arena *arena, const char **out, struct fh_error *err)
{
	auto_free char *in_root = path && mlgym_root ? path_join(mlgym_root, path) : NULL;
	auto_free char *real = path ? realpath(path, NULL) : NULL;

	if (!path)
		return 0;
	if (!real && in_root)
		real = realpath(in_root, NULL);
	if (!real && !mlgym_root)
		return error_set(err, errno, "--aliases-file '%s'", path);
	if (real)
		*out = arena_strdup(arena, real);
	else
		warner_say(warner, "there is no file '%s': the shell has no aliases", path);
	return 0;
}

static int episode_setup_make(struct arena *arena, const struct agent_config *agent,
		const char *aliases, bool edits_at_once, struct env_setup *out,
		struct fh_error *err)
{
	struct command_setup commands = command_setup_of(agent);

	commands.aliases = aliases;
	commands.edits_at_once = edits_at_once;
	return command_setup_make(arena, &commands, out, err);
}

int episode_check_setup(const struct agent_config *agent, const char *aliases, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct env_setup setup;

	return episode_setup_make(&arena, agent, aliases, false, &setup, err);
}

int episode_set_up(struct fh_env *env, const struct agent_config *agent, const char *aliases,
		bool edits_at_once, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct env_setup setup;
	int r;

	if (!agent && !aliases && !edits_at_once)
		return 0;
	r = episode_setup_make(&arena, agent, aliases, edits_at_once, &setup, err);
	return r < 0 ? r : env_set_setup(env, &setup, err);
}
