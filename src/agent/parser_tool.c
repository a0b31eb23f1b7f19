/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/config.h"
#include "agent/parser_kind.h"
#include "base/buf.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/*
 * Commands as tools that a model uses. What it calls one with has to keep to the schema that it was given
 * (native.c): what it leaves out, adds, or gives as something else would make another command than the one it
 * means. Values become single words, or lines of their own, and nothing more.
 */

#define LIST_BYTES_MAX 256
#define NAME_BYTES_SHOWN 64           /* of one that a model made up */
#define WHOLE_MOST 9007199254740992.0 /* 2^53: beyond it a double can't tell whole numbers apart */

/* --- values ------------------------------------------------------------------------------------- */

/* 3, 3.0, 3e0, and "3". */
static const char *take_integer(struct arena *a, const struct pyjson *v)
{
	const char *digits = v->kind == PYJSON_STRING ? pyjson_string(v) : NULL;
	double number;
	int64_t whole;

	if (digits ? !str_to_i64(digits, &whole) : !pyjson_i64(v, &whole)) {
		if (!pyjson_double(v, &number) || number != trunc(number) ||
				fabs(number) > WHOLE_MOST)
			return NULL;
		whole = (int64_t)number;
	}
	return arena_printf(a, "%lld", (long long)whole);
}

static const char *take_number(struct arena *a, const struct pyjson *v)
{
	double number;

	return pyjson_double(v, &number) ? v->text : NULL;
}

static const char *take_boolean(struct arena *a, const struct pyjson *v)
{
	return v->kind == PYJSON_BOOL ? (v->boolean ? "true" : "false") : NULL;
}

static const char *take_string(struct arena *a, const struct pyjson *v)
{
	return v->kind == PYJSON_STRING ? pyjson_string(v) : NULL;
}

/* Of a type that nobody knows: `filename`, or none. */
static const char *take_any(struct arena *a, const struct pyjson *v)
{
	const char *text = take_string(a, v);

	if (!text)
		text = take_boolean(a, v);
	return text ? text : take_number(a, v);
}

static const struct type {
	const char *name, *other_name, *said; /* names: JSON Schema's, Python's */
	const char *(*take)(
			struct arena *a, const struct pyjson *v); /* NULL: it is something else */
} types[] = {
	{ "integer", "int", "a whole number", take_integer },
	{ "number", "float", "a number", take_number },
	{ "boolean", "bool", "true or false", take_boolean },
	{ "string", "str", "a text", take_string },
};
static const struct type any_type = { "string", NULL, "a text or a number", take_any };

static const struct type *type_of(const struct command_argument *argument)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (str_eq(types[i].name, argument->type) ||
				str_eq(types[i].other_name, argument->type))
			return &types[i];
	return &any_type;
}

const char *command_argument_type(const struct command_argument *argument)
{
	return type_of(argument)->name;
}

/* In a command of several lines, whether the value is lines of them. */
static bool has_own_lines(struct arena *a, const struct agent_command *command, const char *name)
{
	return command->end_name && command->signature &&
			strstr(command->signature, arena_printf(a, "\n<%s>\n", name));
}

static int take_value(struct arena *a, const struct agent_command *command,
		const struct command_argument *argument, const struct pyjson *v,
		struct command_value *out, struct fh_error *err)
{
	const struct type *type = type_of(argument);
	const char *text = type->take(a, v);

	if (!text)
		return error_say(err, EINVAL, "'%s' of '%s' has to be %s", argument->name,
				command->name, type->said);
	*out = (struct command_value){ argument->name, text, COMMAND_WORD };
	if (has_own_lines(a, command, argument->name))
		out->form = COMMAND_LINES;
	if (out->form == COMMAND_LINES && command_ends_in(command, text))
		return error_say(err, EINVAL,
				"'%s' of '%s' has a line '%s', by which a text ends; one with such a line "
				"can only be written by the shell",
				argument->name, command->name, command->end_name);
	return 0;
}

/* --- calls -------------------------------------------------------------------------------------- */

static int shown(const char *name)
{
	return (int)str_utf8_cut(name, strlen(name), NAME_BYTES_SHOWN);
}

/* What is null is not given. */
static bool is_given(const struct pyjson *v)
{
	return v && v->kind != PYJSON_NULL;
}

static bool is_argument(const struct agent_command *command, const struct pyjson *v)
{
	for (size_t i = 0; i < command->n_arguments; i++)
		if (str_eq(command->arguments[i].name, v->key) && strlen(v->key) == v->key_len)
			return true;
	return false;
}

static int check_names(const struct agent_command *command, const struct pyjson *arguments,
		struct fh_error *err)
{
	for (const struct pyjson *v = arguments->first; v; v = v->next) {
		auto_buf struct buf list = BUF_INIT(LIST_BYTES_MAX);

		if (!is_given(v) || is_argument(command, v))
			continue;
		for (size_t i = 0; i < command->n_arguments; i++)
			buf_printf(&list, "%s%s", i ? ", " : "", command->arguments[i].name);
		return error_say(err, EINVAL, "'%s' has no argument '%.*s'; there are: %s",
				command->name, shown(v->key), v->key,
				command->n_arguments ? buf_str(&list) : "none");
	}
	return 0;
}

static int take_values(struct arena *a, const struct agent_command *command,
		const struct pyjson *arguments, struct command_value *values, size_t *out_n,
		struct fh_error *err)
{
	int r = check_names(command, arguments, err);
	size_t n = 0;

	for (size_t i = 0; i < command->n_arguments && r == 0; i++) {
		const struct command_argument *argument = &command->arguments[i];
		const struct pyjson *v = pyjson_get(arguments, argument->name);

		if (is_given(v))
			r = take_value(a, command, argument, v, &values[n++], err);
		else if (argument->required)
			r = error_say(err, EINVAL, "'%s' needs '%s', which is not given",
					command->name, argument->name);
	}
	*out_n = n;
	return r;
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
		return error_say(err, EINVAL, "there is no tool '%.*s'", shown(use->name),
				use->name);
	values = arena_array(a, command->n_arguments + 1, sizeof(*values));
	r = parse_object(a, arena_printf(a, "arguments of '%s'", use->name),
			*use->arguments ? use->arguments : "{}", &arguments, err);
	if (r == 0)
		r = take_values(a, command, arguments, values, &n, err);
	if (r == 0 && command == &tool_shell)
		*out = parse_lines(a, values[0].value);
	else if (r == 0)
		*out = command_fill(a, command, values, n);
	return r;
}

static int tool_call(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	if (!reply->n_uses)
		return error_say(err, EINVAL, "the reply calls no tool");
	out->thought = reply->content;
	out->use = 0; /* one at a time: the others are told that they were not run */
	return tool_action(a, &reply->uses[0], commands, &out->action, err);
}

const struct output_parser parser_tool_call = {
	.name = "ToolCallParser",
	.format_error = "Nothing was run: {why}. Call one of your tools, with its arguments as they are "
			"described.\n",
	.wants_tools = true,
	.parse = tool_call,
};
