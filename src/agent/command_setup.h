/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_SETUP_H
#define AGENT_COMMAND_SETUP_H

#include "agent/command_file.h"
#include "env/setup.h"

/* The `tools` of an agent's configuration, as far as the environment has to know of them. */
struct command_setup {
	const struct command_file *files;
	size_t n_files;
	const struct text_map *env_variables; /* names that a shell takes: agent_config_load() */
	bool exported; /* the variables are: our own commands are programs, and see no others */
	const char *state_name, *state_code; /* state_command; NULL: none */
	bool original_tools; /* MLGym's tools are played by themselves, though ours are proven equal */
	bool edits_at_once; /* edits follow without a pause in which their linter could start: start it first */
	const char *aliases; /* a file that each shell sources first, with aliases switched on; NULL: none */
};

/*
 * How the commands come into an episode, for env_set_setup(): scripts and files to source lie in
 * SETUP_DIR; the shell takes the state command's code, then each variable as `NAME=VALUE`, as it is
 * written (an array is `()`) and not exported unless asked to be, then sources the files. `validate` and
 * `submit` of theirs, and MLGym's own scripts that need more than a sandbox has, give way to our programs of
 * these names. MLGym's bash tools do so too, unless original_tools: own_tools_fit(). Any other command is theirs. Lives in the arena. -EINVAL; -ENOENT and the like for aliases.
 */
int command_setup_make(struct arena *a, const struct command_setup *commands, struct env_setup *out,
		struct fh_error *err);

/* True for `validate` and `submit`: our programs run, whoever else defines these names. */
bool command_asks_for_score(const char *name);

/* --- own_tools.c ------------------------------------------------------------------------------ */

/* Whether all functions of these files are MLGym's own, to which our programs of the same names are proven equal. */
bool own_tools_fit(const struct command_file *files, size_t n);

/* Functions that call our programs, to source in place of the file. NULL: source the file as it is. */
const char *own_tools_text(struct arena *a, const struct command_file *file);

#endif
