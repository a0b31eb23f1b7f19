/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/command_file.h"

#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

const char *const command_docs_names[] = {
	[COMMAND_DOCS_BASH] = "ParseCommandBash",
	[COMMAND_DOCS_DETAILED] = "ParseCommandDetailed",
	NULL,
};

/* --- docstrings ------------------------------------------------------------------------------- */

static const char *command_docs_field(const struct text_map *fields, const char *name, size_t n)
{
	for (size_t i = 0; i < fields->n; i++)
		if (strlen(fields->pairs[i].key) == n && memcmp(fields->pairs[i].key, name, n) == 0)
			return fields->pairs[i].value;
	return NULL;
}

/* Appends the field at `text`, a "{". Returns its length in `text`. */
static int command_docs_add_field(struct buf *out, const struct agent_command *command,
		const char *text, const struct text_map *fields, struct fh_error *err)
{
	size_t n = strcspn(text + 1, "{}");
	const char *value;

	if (text[1 + n] != '}')
		return node_complain(command->at, err,
				"docstring of '%s': a '{' that no field follows is written '{{'",
				command->name);
	value = command_docs_field(fields, text + 1, n);
	if (!value)
		return node_complain(command->at, err,
				"docstring of '%s': there is no field '%.*s' in env_variables",
				command->name, (int)(n < 80 ? n : 80), text + 1);
	buf_add_str(out, value);
	return (int)n + 2;
}

static int command_docs_add_docstring(struct buf *out, const struct agent_command *command,
		const struct text_map *fields, struct fh_error *err)
{
	const char *at = command->docstring;

	while (*at) {
		size_t n = strcspn(at, "{}");
		int r;

		buf_add(out, at, n);
		at += n;
		if (!*at)
			break;
		if (at[1] == *at) {
			buf_add_char(out, *at);
			at += 2;
			continue;
		}
		if (*at == '}')
			return node_complain(command->at, err,
					"docstring of '%s': a '}' of its own is written '}}'",
					command->name);
		r = command_docs_add_field(out, command, at, fields, err);
		if (r < 0)
			return r;
		at += r;
	}
	return 0;
}

/* --- styles ----------------------------------------------------------------------------------- */

/* Leaves out commands without a docstring. */
static int command_docs_add_brief(struct buf *out, const struct agent_command *command,
		const struct text_map *fields, struct fh_error *err)
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
		const struct text_map *fields, struct fh_error *err)
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
		const struct text_map *fields, struct fh_error *err) = {
	[COMMAND_DOCS_BASH] = command_docs_add_brief,
	[COMMAND_DOCS_DETAILED] = command_docs_add_detailed,
};

int command_docs_add(struct buf *out, enum command_docs style, const struct command_file *files,
		size_t n, const struct text_map *fields, struct fh_error *err)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < files[i].n_commands; j++) {
			int r = command_docs_styles[style](out, &files[i].commands[j], fields, err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}
