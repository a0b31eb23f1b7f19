/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PARSER_KIND_H
#define AGENT_PARSER_KIND_H

#include "agent/parser.h"

/* The parsers: each is a const struct at the end of its file, and a line in parser.c's table. */
extern const struct output_parser parser_thought_action, parser_mlgym_thought_action,
		parser_edit_format, parser_tolerant; /* parser_fence.c */
extern const struct output_parser parser_action, parser_identity,
		parser_xml_thought_action;                       /* parser_plain.c */
extern const struct output_parser parser_json, parser_tool_call; /* parser_json.c */

/* Between <command> and </command>: the last ones. False if there are none. */
bool parse_tags(struct arena *a, const char *text, struct parsed *out);

#endif
