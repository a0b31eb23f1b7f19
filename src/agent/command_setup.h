/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_SETUP_H
#define AGENT_COMMAND_SETUP_H

#include "agent/command_file.h"
#include "env/setup.h"

/* The `tools` of an agent's configuration that the environment has to know. */
struct command_setup {
	const struct command_file *files;
	size_t n_files;
	const struct text_map *env_variables; /* valid names: agent_config_load() checks them */
	bool exported; /* export the variables: our own commands are programs, and see no others */
	const char *state_name, *state_code; /* state_command; NULL: none */
	bool original_tools; /* run MLGym's own tools, though ours are proven equal */
	bool edits_at_once;  /* start the linter now: edits follow without a pause */
	const char *aliases; /* path of a file that each shell sources first; NULL: none */
};

/*
 * Prepares the commands of an episode, for env_set_setup(). Files lie in SETUP_DIR. The shell runs
 * the state command's code, sets each variable as `NAME=VALUE` (an array is `()`), and sources the
 * files.
 *
 * Our programs replace `validate`, `submit`, and MLGym's scripts that a sandbox can't run. They
 * also replace MLGym's bash tools, unless original_tools: see own_tools_fit().
 *
 * The result lives in the arena. -EINVAL, or an error of reading the aliases.
 */
int command_setup_make(struct arena *a, const struct command_setup *commands, struct env_setup *out,
		struct fh_error *err);

/* True for `validate` and `submit`, which are always our programs. */
bool command_asks_for_score(const char *name);

/* --- own_tools.c ------------------------------------------------------------------------------ */

/* True if all functions of these files are MLGym's own, for which our programs are proven equal. */
bool own_tools_fit(const struct command_file *files, size_t n);

/* Functions that call our programs, to source in place of the file. NULL: source the file
 * itself. */
const char *own_tools_text(struct arena *a, const struct command_file *file);

#endif
