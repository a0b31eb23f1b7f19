/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PARSER_H
#define AGENT_PARSER_H

#include "agent/command.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/chat.h"

#include <stdbool.h>

/*
 * Output parsers split a model's reply into a thought and an action. They have MLGym's names, and
 * behave exactly as MLGym's (docs/agents.md).
 */
struct parsed {
	const char *thought, *action; /* in the arena */
};

struct output_parser {
	const char *name;
	/* Template of the message after a malformed reply. It has the system's fields. */
	const char *format_error;
	bool wants_tools; /* the model gets tools, and must call one */
	/* As output_parse(), for lines that end with \n. */
	int (*parse)(struct arena *a, const struct chat_reply *reply,
			const struct commands *commands, struct parsed *out, struct fh_error *err);
};

/* -EINVAL with the reason for a malformed reply. Each \r\n in a reply becomes \n: a shell would
 * take the \r for a part of the command. */
int output_parse(const struct output_parser *parser, struct arena *a,
		const struct chat_reply *reply, const struct commands *commands, struct parsed *out,
		struct fh_error *err);

/* NULL for an unknown name. The error names the closest, or lists all. */
const struct output_parser *output_parser_find(const char *name, struct fh_error *err);

#endif
