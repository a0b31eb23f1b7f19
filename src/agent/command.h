/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_H
#define AGENT_COMMAND_H

#include "base/arena.h"
#include "config/node.h"

#include <stdbool.h>
#include <stddef.h>

/* Commands that an agent has beside those of the shell: our own (native_commands()), or those of
 * command files (command_file.h). */
struct command_argument {
	const char *name, *type, *description; /* the last two are "" if not given */
	bool required;
};

struct agent_command {
	const char *name;
	const char *signature; /* NULL: the name alone */
	const char *docstring; /* with its {fields}; NULL: none */
	const char *end_name;  /* the word that ends its here-document; NULL: one line only */
	const struct command_argument *arguments;
	size_t n_arguments;
	bool has_arguments;    /* `arguments` was given, perhaps empty */
	const struct node *at; /* place of the docstring, for errors; NULL: none */
};

struct commands {
	const struct agent_command *items;
	size_t n;
};

/* NULL if there is none of that name. */
const struct agent_command *commands_find(const struct commands *all, const char *name);

/* How a value is written into its command. */
enum command_form {
	COMMAND_AS_IS,
	COMMAND_QUOTED, /* as MLGym quotes for the shell */
	COMMAND_WORD,   /* quoted as a single word on one line */
	COMMAND_LINES,  /* lines of a here-document; "" is no line */
};

struct command_value {
	const char *name, *value;
	enum command_form form;
};

/* True if the text holds the line that ends the command's here-document: the rest would run as
 * commands. */
bool command_ends_in(const struct agent_command *command, const char *text);

/*
 * Makes signature and arguments agree, for tool calls. Required arguments that the signature lacks
 * are added to its first line. Other arguments that it lacks are removed.
 */
void command_fit(struct arena *a, struct agent_command *command);

/* The command as a shell reads it: the signature with values in place of <names>. Values that are
 * not given are left out. */
char *command_fill(struct arena *a, const struct agent_command *command,
		const struct command_value *values, size_t n);

#endif
