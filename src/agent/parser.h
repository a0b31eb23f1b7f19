/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PARSER_H
#define AGENT_PARSER_H

#include "agent/command.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/chat.h"

#include <stdbool.h>

/*
 * Output parsers: how a model's reply is told apart into what it thinks and what it does. They have the
 * names that MLGym gives them, and its semantics to the letter (../docs/agents.md).
 */
struct parsed {
	const char *thought, *action; /* in the arena */
	size_t use;                   /* of a parser of tool calls: which one it is */
};

struct output_parser {
	const char *name;
	/* What a model is told whose reply is wrong: a template, with the fields of the system's. */
	const char *format_error;
	bool wants_tools; /* the model is given tools, and is to use them */
	/* As output_parse(); lines end with \n alone. */
	int (*parse)(struct arena *a, const struct chat_reply *reply,
			const struct commands *commands, struct parsed *out, struct fh_error *err);
};

/* -EINVAL for a reply in another form: why. A reply's lines may end with \r\n, too; a shell would take the \r for a
 * part of the command, so that an action's do not. */
int output_parse(const struct output_parser *parser, struct arena *a,
		const struct chat_reply *reply, const struct commands *commands, struct parsed *out,
		struct fh_error *err);

/* NULL with a sentence that lists all, or names the closest. */
const struct output_parser *output_parser_find(const char *name, struct fh_error *err);

#endif
