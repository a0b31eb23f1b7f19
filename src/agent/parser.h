/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PARSER_H
#define AGENT_PARSER_H

#include "agent/command.h"
#include "agent/parsed.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/chat.h"

#include <stdbool.h>

/*
 * Output parsers split a model's reply into a thought and an action. Their names and behaviour are
 * those of MLGym's parsers (docs/agents.md).
 */
struct output_parser {
	const char *name;
	/* Template of the message that asks the model again after a malformed reply. It may use the
	 * fields of the system prompt. */
	const char *format_error;
	bool wants_tools; /* the model gets tools, and each reply must call one */
	/* Parses a reply, for output_parse(). All lines of the reply end with \n, not \r\n. */
	int (*parse)(struct arena *a, const struct chat_reply *reply,
			const struct commands *commands, struct parsed *out, struct fh_error *err);
};

/* Parses a reply. -EINVAL with the reason if it is malformed. Each \r\n becomes \n: a shell would
 * read \r as part of the command. */
int output_parse(const struct output_parser *parser, struct arena *a,
		const struct chat_reply *reply, const struct commands *commands, struct parsed *out,
		struct fh_error *err);

/* Finds a parser by name. NULL for an unknown name: the error names the closest, or lists all. */
const struct output_parser *output_parser_find(const char *name, struct fh_error *err);

#endif
