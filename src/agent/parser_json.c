/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/parser_kind.h"
#include "agent/parser_text.h"
#include "agent/pytext.h"
#include "python/pyjson.h"

#include <errno.h>
#include <string.h>

/* Commands as JSON in the text of a reply. */

#define JSON_PARSER_VALUES_MAX 64

static const char *parser_json_text(const struct pyjson *v)
{
	switch (v->kind) {
	case PYJSON_STRING:
		return pyjson_string(v);
	case PYJSON_NUMBER:
		return v->text;
	case PYJSON_BOOL:
		return v->boolean ? "true" : "false";
	case PYJSON_NULL:
		return "";
	case PYJSON_ARRAY:
	case PYJSON_OBJECT:
		break;
	}
	return NULL;
}

/* Reads the command's arguments. Strings are quoted, except in a multi-line command, as in
 * MLGym. */
static int parser_json_read_values(const struct pyjson *arguments,
		const struct agent_command *command, struct command_value *values, size_t *out_n,
		struct fh_error *err)
{
	enum command_form text_form = command && !command->end_name ? COMMAND_QUOTED
								    : COMMAND_AS_IS;
	size_t n = 0;

	for (const struct pyjson *v = arguments ? arguments->first : NULL; v; v = v->next) {
		const char *text = parser_json_text(v);

		if (!text || n == JSON_PARSER_VALUES_MAX)
			return error_say(err, EINVAL,
					"the argument '%s' is neither text nor a number", v->key);
		values[n++] = (struct command_value){
			.name = v->key,
			.value = text,
			.form = v->kind == PYJSON_STRING ? text_form : COMMAND_AS_IS,
		};
	}
	*out_n = n;
	return 0;
}

static int parser_json_make_action(struct arena *a, const char *name,
		const struct pyjson *arguments, const struct commands *commands, const char **out,
		struct fh_error *err)
{
	const struct agent_command *command = commands_find(commands, name);
	auto_buf struct buf line = BUF_INIT(SIZE_MAX);
	struct command_value values[JSON_PARSER_VALUES_MAX];
	size_t n = 0;
	int r;

	if (arguments && arguments->kind != PYJSON_OBJECT)
		return error_say(err, EINVAL, "'arguments' is not an object");
	r = parser_json_read_values(arguments, command, values, &n, err);
	if (r < 0)
		return r;
	buf_add_str(&line, name);
	for (size_t i = 0; i < n; i++) {
		if (command && command_ends_in(command, values[i].value))
			return error_say(err, EINVAL,
					"'%s' has a line '%s', which ends the text of this command: write "
					"such a text by a shell command",
					values[i].name, command->end_name);
		buf_printf(&line, " %s", values[i].value);
	}
	/* A command without documentation is the shell's: append its arguments unchanged. */
	*out = command ? command_fill(a, command, values, n)
		       : pytext_strip(a, buf_str(&line), line.len);
	return 0;
}

static int parser_json_parse(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	auto_buf struct buf shown = BUF_INIT(SIZE_MAX);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&shown, PYJSON_LINE);
	const struct pyjson *root, *thought, *command;
	const char *name;
	int r = parse_object(a, "reply", reply->content, &root, err);

	if (r < 0)
		return r;
	thought = pyjson_get(root, "thought");
	command = pyjson_get(root, "command");
	name = command ? pyjson_string(pyjson_get(command, "name")) : NULL;
	if (!thought)
		return error_say(err, EINVAL, "it has no 'thought'");
	if (!name)
		return error_say(err, EINVAL, "it has no object 'command' with a text 'name'");
	out->thought = parser_json_text(thought);
	if (!out->thought) { /* the thought is a list or an object: keep its JSON */
		pyjson_put_value(&w, NULL, thought);
		out->thought = arena_strdup(a, buf_str(&shown));
	}
	return parser_json_make_action(
			a, name, pyjson_get(command, "arguments"), commands, &out->action, err);
}

const struct output_parser parser_json = {
	.name = "JsonParser",
	.format_error = "Nothing was run: your reply must be one JSON object and nothing else, with what you "
			"think and one command:\n"
			"\n"
			"{{\"thought\": \"what you do next\", \"command\": {{\"name\": \"open\", "
			"\"arguments\": {{\"path\": \"train.py\"}}}}}}\n",
	.parse = parser_json_parse,
};
