/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_H
#define AGENT_COMMAND_H

#include "base/arena.h"
#include "config/node.h"

#include <stdbool.h>
#include <stddef.h>

/* Commands that an agent has besides the shell's: their documentation, and the text of a call. */

struct command_argument {
	const char *name, *type, *description; /* type and description are "" if not documented */
	bool required;
};

/* A command for the agent in addition to the shell's. It is Fumehood's (native_commands()), or from
 * a command file (command_file.h). */
struct agent_command {
	const char *name;
	const char *signature; /* the command with <arguments>; NULL: only its name */
	const char *docstring; /* description, whose {fields} are not replaced yet; NULL: none */
	const char *end_name;  /* word that ends the command's here-document; NULL: it has none */
	const struct command_argument *arguments;
	size_t n_arguments;
	bool has_arguments;    /* the documentation has the key `arguments`, which may be empty */
	const struct node *at; /* place of the docstring in its file, for errors; NULL: none */
};

struct commands {
	const struct agent_command *items;
	size_t n;
};

/* Finds a command by its name; NULL if there is none. */
const struct agent_command *commands_find(const struct commands *all, const char *name);

/* True for `validate` and `submit`, which ask for a score. Both are always Fumehood's programs. */
bool command_asks_for_score(const char *name);

/* Form of an argument's value in a command. */
enum command_form {
	COMMAND_AS_IS,
	COMMAND_QUOTED, /* quoted for the shell as Python's shlex.quote() does, like MLGym */
	COMMAND_WORD,   /* quoted as one word on one line, with newlines escaped */
	COMMAND_LINES,  /* lines of a here-document; "" gives no line */
};

struct command_value {
	const char *name, *value;
	enum command_form form;
};

/* True if the text contains the line that ends the command's here-document. The shell would run
 * what follows it. */
bool command_ends_in(const struct agent_command *command, const char *text);

/*
 * Makes signature and arguments of a command agree, for tool calls. Required arguments that the
 * signature lacks are added to its first line. Optional arguments that it lacks are removed.
 */
void command_fit(struct arena *a, struct agent_command *command);

/* Makes the line for the shell: the signature with values in place of <names>. Arguments without a
 * value are left out. */
char *command_fill(struct arena *a, const struct agent_command *command,
		const struct command_value *values, size_t n);

#endif
