/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_SETUP_H
#define AGENT_COMMAND_SETUP_H

#include "agent/config.h"
#include "env/setup.h"

/* Commands of an agent's configuration to set up in an environment. */
struct command_setup {
	const struct command_file *files;
	size_t n_files;
	/* shell variables to set; agent_config_load() checked their names */
	const struct text_map *env_variables;
	bool exported; /* export the variables, so that Fumehood's programs see them */
	/* state_command: code that prints the tools' state; NULL: none */
	const char *state_name, *state_code;
	bool original_tools; /* run MLGym's own tools in place of Fumehood's equal programs */
	/* start the linter before the first edit, for replays, whose edits follow without a
	 * pause */
	bool edits_at_once;
	const char *aliases; /* path of a file that each shell sources first; NULL: none */
};

/* Returns the commands of a configuration; agent may be NULL. */
struct command_setup command_setup_of(const struct agent_config *agent);

/*
 * Prepares the commands of an episode, for env_set_setup(). Files lie in SETUP_DIR. The shell runs
 * the state command's code, sets each variable as `NAME=VALUE` (an array is `()`), and sources the
 * files.
 *
 * Our programs replace `validate`, `submit`, and MLGym's scripts that a sandbox can't run. They
 * also replace MLGym's bash tools, unless original_tools: see own_tools_fit().
 *
 * The result lives in the arena. -EINVAL: a file's name is wrong or taken. -E2BIG: too much code.
 * Or an error of reading the aliases.
 */
int command_setup_make(struct arena *a, const struct command_setup *commands, struct env_setup *out,
		struct fh_error *err);

#endif
