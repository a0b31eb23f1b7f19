/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/parser.h"

#include "agent/parser_kind.h"
#include "agent/parser_text.h"
#include "agent/pytext.h"
#include "base/buf.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

/* --- replies that are an action, or mark it by tags ------------------------------------------- */

static int parser_parse_action(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	size_t n;
	const char *word = pytext_first_word(reply->content, &n);

	if (!n || !commands_find(commands, arena_strndup(a, word, n)))
		return error_say(err, EINVAL, "the reply's first word is not a command");
	*out = (struct parsed){ .thought = reply->content, .action = reply->content };
	return 0;
}

static int parser_parse_identity(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	*out = (struct parsed){ .thought = reply->content, .action = reply->content };
	return 0;
}

static int parser_parse_xml(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	if (!parse_tags(a, reply->content, out))
		return error_say(err, EINVAL, "the reply has no <command>");
	return 0;
}

static const struct output_parser parser_action = {
	.name = "ActionParser",
	.format_error = "Nothing was run: your reply must be one of these commands with its arguments, and "
			"nothing else.\n"
			"\n"
			"{command_docs}\n",
	.parse = parser_parse_action,
};

static const struct output_parser parser_identity = {
	.name = "Identity",
	.format_error = "Your reply could not be used. Give it again, please.\n",
	.parse = parser_parse_identity,
};

static const struct output_parser parser_xml_thought_action = {
	.name = "XMLThoughtActionParser",
	.format_error = "Nothing was run: your reply has another form than the one that is understood. Say "
			"what you think, and then give one command between tags:\n"
			"\n"
			"What you found out and what you do next.\n"
			"<command>\n"
			"the command\n"
			"</command>\n",
	.parse = parser_parse_xml,
};

/* --- all parsers ------------------------------------------------------------------------------ */

static const struct output_parser *const output_parsers[] = {
	&parser_action,
	&parser_thought_action,
	&parser_mlgym_thought_action,
	&parser_xml_thought_action,
	&parser_edit_format,
	&parser_identity,
	&parser_json,
	&parser_tool_call,
	&parser_tolerant,
};

int output_parse(const struct output_parser *parser, struct arena *a,
		const struct chat_reply *reply, const struct commands *commands, struct parsed *out,
		struct fh_error *err)
{
	struct chat_reply read = *reply;

	read.content = parse_lines(a, reply->content);
	return parser->parse(a, &read, commands, out, err);
}

const struct output_parser *output_parser_find(const char *name, struct fh_error *err)
{
	auto_buf struct buf list = BUF_INIT(1024);
	const char *names[ARRAY_SIZE(output_parsers)];
	const char *closest;

	for (size_t i = 0; i < ARRAY_SIZE(output_parsers); i++) {
		if (str_eq(output_parsers[i]->name, name))
			return output_parsers[i];
		names[i] = output_parsers[i]->name;
		buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	closest = str_closest(name, names, ARRAY_SIZE(names));
	if (closest)
		error_say(err, EINVAL, "no output parser '%s'; did you mean '%s'?", name, closest);
	else
		error_say(err, EINVAL, "no output parser '%s'; there are: %s", name,
				buf_str(&list));
	return NULL;
}
