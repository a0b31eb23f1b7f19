/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/command_file.h"

#include "agent/template.h"

#include <string.h>

const char *const command_docs_names[] = {
	[COMMAND_DOCS_BASH] = "ParseCommandBash",
	[COMMAND_DOCS_DETAILED] = "ParseCommandDetailed",
	NULL,
};

static int command_docs_add_docstring(struct buf *out, const struct agent_command *command,
		const struct fields *fields, struct fh_error *err)
{
	const struct template docstring = { .text = command->docstring };
	struct fh_error why;

	if (template_render(out, &docstring, fields, &why) < 0)
		return node_complain(command->at, err, "docstring of '%s': %s", command->name,
				why.message);
	return 0;
}

/* --- styles ----------------------------------------------------------------------------------- */

/* Appends the short documentation of a command. Leaves out a command without a docstring. */
static int command_docs_add_brief(struct buf *out, const struct agent_command *command,
		const struct fields *fields, struct fh_error *err)
{
	int r;

	if (!command->docstring)
		return 0;
	buf_printf(out, "%s - ", command->signature ? command->signature : command->name);
	r = command_docs_add_docstring(out, command, fields, err);
	buf_add_char(out, '\n');
	return r;
}

static int command_docs_add_detailed(struct buf *out, const struct agent_command *command,
		const struct fields *fields, struct fh_error *err)
{
	buf_printf(out, "%s:\n", command->name);
	if (command->docstring) {
		int r;

		buf_add_str(out, "  docstring: ");
		r = command_docs_add_docstring(out, command, fields, err);
		if (r < 0)
			return r;
		buf_add_char(out, '\n');
	}
	buf_printf(out, "  signature: %s\n",
			command->signature ? command->signature : command->name);
	if (command->has_arguments)
		buf_add_str(out, "  arguments:\n");
	for (size_t i = 0; i < command->n_arguments; i++) {
		const struct command_argument *argument = &command->arguments[i];

		buf_printf(out, "    - %s (%s) [%s]: %s\n", argument->name, argument->type,
				argument->required ? "required" : "optional",
				argument->description);
	}
	buf_add_char(out, '\n');
	return 0;
}

static int (*const command_docs_styles[])(struct buf *out, const struct agent_command *command,
		const struct fields *fields, struct fh_error *err) = {
	[COMMAND_DOCS_BASH] = command_docs_add_brief,
	[COMMAND_DOCS_DETAILED] = command_docs_add_detailed,
};

int command_docs_add(struct buf *out, enum command_docs style, const struct command_file *files,
		size_t n, const struct text_map *variables, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct fields fields = { .arena = &arena };

	for (size_t i = 0; i < variables->n; i++)
		fields_set(&fields, variables->pairs[i].key, variables->pairs[i].value);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < files[i].n_commands; j++) {
			int r = command_docs_styles[style](
					out, &files[i].commands[j], &fields, err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}
