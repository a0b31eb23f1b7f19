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

/* How a value stands in its command. */
enum command_form {
	COMMAND_AS_IS,
	COMMAND_QUOTED, /* as MLGym quotes for the shell */
	COMMAND_WORD,   /* one word, on one line, whatever is in it */
	COMMAND_LINES, /* of their own: a last newline is the signature's, and no text is no line */
};

/* What is given for an argument. */
struct command_value {
	const char *name, *value;
	enum command_form form;
};

/* Whether the text has the line by which the command's text ends: it would be cut there, and the rest run. */
bool command_ends_in(const struct agent_command *command, const char *text);

/*
 * Has signature and arguments agree, as a tool call needs them: what the signature lacks would be dropped without a
 * word. An argument that has to be given follows the words of its first line; any other is gone.
 */
void command_fit(struct arena *a, struct agent_command *command);

/* The command as a shell reads it: its signature with values in place of <names>; without those that are
 * not given. */
char *command_fill(struct arena *a, const struct agent_command *command,
		const struct command_value *values, size_t n);

#endif
