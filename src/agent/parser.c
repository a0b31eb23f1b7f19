/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/parser.h"

#include "agent/parser_kind.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

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

const char *parse_lines(struct arena *a, const char *text)
{
	char *out, *to;

	if (!strstr(text, "\r\n"))
		return text;
	to = out = arena_strdup(a, text);
	for (const char *from = text; *from; from++)
		if (from[0] != '\r' || from[1] != '\n')
			*to++ = *from;
	*to = '\0';
	return out;
}

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
