/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PARSER_KIND_H
#define AGENT_PARSER_KIND_H

#include "agent/parser.h"

/* Output parsers that are not in parser.c. To add one, put a const struct at the end of its
 * file, and name it in parser.c's table. */
extern const struct output_parser parser_thought_action, parser_mlgym_thought_action,
		parser_edit_format, parser_tolerant; /* in parser_fence.c */
extern const struct output_parser parser_json;       /* in parser_json.c */
extern const struct output_parser parser_tool_call;  /* in parser_tool.c */

#endif
