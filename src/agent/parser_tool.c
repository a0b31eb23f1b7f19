/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/argument.h"
#include "agent/native.h"
#include "agent/parser_kind.h"
#include "agent/parser_text.h"
#include "base/buf.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

/*
 * Reads a tool call as a command. The call's arguments must match the schema that the model was
 * given (native.c). A guess of what the model meant might run another command. Values become single
 * words, or lines of a here-document.
 */

#define TOOL_LIST_BYTES_MAX 256
#define NAME_BYTES_SHOWN 64 /* an error shows this many bytes of an unknown tool's name */

/* --- values ---------------------------------------------------------------------------------- */

static int tool_take_value(struct arena *a, const struct agent_command *command,
		const struct command_argument *argument, const struct pyjson *v,
		struct command_value *out, struct fh_error *err)
{
	const struct argument_type *type = argument_type_of(argument);
	const char *text = type->take(a, v);

	if (!text)
		return error_say(err, EINVAL, "'%s' of '%s' has to be %s", argument->name,
				command->name, type->said);
	*out = (struct command_value){ argument->name, text, COMMAND_WORD };
	/* A value whose <name> is on a line of its own is written as lines of the
	 * here-document. */
	if (command->end_name && command->signature &&
			strstr(command->signature, arena_printf(a, "\n<%s>\n", argument->name)))
		out->form = COMMAND_LINES;
	if (out->form == COMMAND_LINES && command_ends_in(command, text))
		return error_say(err, EINVAL,
				"'%s' of '%s' has a line '%s', which ends the text of this command: "
				"write such a text by a shell command",
				argument->name, command->name, command->end_name);
	return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

static int tool_shown(const char *name)
{
	return (int)str_utf8_cut(name, strlen(name), NAME_BYTES_SHOWN);
}

/* True if an argument has a value. A null counts as no value. */
static bool tool_is_given(const struct pyjson *v)
{
	return v && v->kind != PYJSON_NULL;
}

static int tool_check_names(const struct agent_command *command, const struct pyjson *arguments,
		struct fh_error *err)
{
	for (const struct pyjson *v = arguments->first; v; v = v->next) {
		auto_buf struct buf list = BUF_INIT(TOOL_LIST_BYTES_MAX);
		bool known = !tool_is_given(v);

		for (size_t i = 0; i < command->n_arguments; i++) {
			const char *name = command->arguments[i].name;

			known = known || (str_eq(name, v->key) && strlen(v->key) == v->key_len);
			buf_printf(&list, "%s%s", i ? ", " : "", name);
		}
		if (known)
			continue;
		return error_say(err, EINVAL, "'%s' has no argument '%.*s'; there are: %s",
				command->name, tool_shown(v->key), v->key,
				command->n_arguments ? buf_str(&list) : "none");
	}
	return 0;
}

static int tool_take_values(struct arena *a, const struct agent_command *command,
		const struct pyjson *arguments, struct command_value *values, size_t *out_n,
		struct fh_error *err)
{
	int r = tool_check_names(command, arguments, err);
	size_t n = 0;

	if (r < 0)
		return r;
	for (size_t i = 0; i < command->n_arguments; i++) {
		const struct command_argument *argument = &command->arguments[i];
		const struct pyjson *v = pyjson_get(arguments, argument->name);

		if (!tool_is_given(v) && !argument->required)
			continue;
		if (!tool_is_given(v))
			return error_say(err, EINVAL, "'%s' needs '%s', which is not given",
					command->name, argument->name);
		r = tool_take_value(a, command, argument, v, &values[n++], err);
		if (r < 0)
			return r;
	}
	*out_n = n;
	return 0;
}

static int tool_action(struct arena *a, const struct chat_use *use, const struct commands *commands,
		const char **out, struct fh_error *err)
{
	const struct agent_command *command = tool_find(commands, use->name);
	struct command_value *values;
	const struct pyjson *arguments;
	size_t n;
	int r;

	if (!command)
		return error_say(err, EINVAL, "there is no tool '%.*s'", tool_shown(use->name),
				use->name);
	values = arena_array(a, command->n_arguments + 1, sizeof(*values));
	r = parse_object(a, arena_printf(a, "arguments of '%s'", use->name),
			*use->arguments ? use->arguments : "{}", &arguments, err);
	if (r < 0)
		return r;
	r = tool_take_values(a, command, arguments, values, &n, err);
	if (r < 0)
		return r;
	*out = command == &tool_shell ? parse_lines(a, values[0].value)
				      : command_fill(a, command, values, n);
	return 0;
}

static int tool_parse(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	if (!reply->n_uses)
		return error_say(err, EINVAL, "the reply calls no tool");
	out->thought = reply->content;
	/* Only the first tool call of a reply runs. agent.c answers the others with "Not run". */
	return tool_action(a, &reply->uses[0], commands, &out->action, err);
}

const struct output_parser parser_tool_call = {
	.name = "ToolCallParser",
	.format_error = "Nothing was run: {why}. Call one of your tools, with its arguments as they are "
			"described.\n",
	.wants_tools = true,
	.parse = tool_parse,
};
