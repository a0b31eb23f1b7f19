/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_H
#define AGENT_COMMAND_H

#include "agent/command_file.h"

/* Commands that an agent has beside those of the shell: our own (native_commands()), or those of command
 * files. */
struct commands {
	const struct agent_command *items;
	size_t n;
};

/* NULL if there is none of that name. */
const struct agent_command *commands_find(const struct commands *all, const char *name);

/* What can be given for an argument; NULL: nothing. */
struct command_value {
	const char *name, *value;
	bool is_text; /* to be quoted for the shell */
};

/* The command as a shell reads it: its signature with values in place of <names>; without those that are
 * not given. In a command of several lines nothing is quoted. */
char *command_fill(struct arena *a, const struct agent_command *command,
		const struct command_value *values, size_t n);

#endif
