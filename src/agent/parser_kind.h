/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PARSER_KIND_H
#define AGENT_PARSER_KIND_H

#include "agent/parser.h"
#include "python/pyjson.h"

/* The parsers: each is a const struct at the end of its file, and a line in parser.c's table. */
extern const struct output_parser parser_thought_action, parser_mlgym_thought_action,
		parser_edit_format, parser_tolerant; /* parser_fence.c */
extern const struct output_parser parser_action, parser_identity,
		parser_xml_thought_action;          /* parser_plain.c */
extern const struct output_parser parser_json;      /* parser_json.c */
extern const struct output_parser parser_tool_call; /* parser_tool.c */

/* Between <command> and </command>: the last ones. False if there are none. */
bool parse_tags(struct arena *a, const char *text, struct parsed *out);

/* The text with \n wherever it has \r\n. */
const char *parse_lines(struct arena *a, const char *text);

/* A text that is a JSON object; `name` is what messages call it. */
int parse_object(struct arena *a, const char *name, const char *text, const struct pyjson **out,
		struct fh_error *err);

#endif
