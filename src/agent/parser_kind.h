/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PARSER_KIND_H
#define AGENT_PARSER_KIND_H

#include "agent/parser.h"
#include "python/pyjson.h"

/* All output parsers. To add one, put a const struct at the end of its file, and name it in
 * parser.c's table. */
extern const struct output_parser parser_thought_action, parser_mlgym_thought_action,
		parser_edit_format, parser_tolerant; /* in parser_fence.c */
extern const struct output_parser parser_json;       /* in parser_json.c */
extern const struct output_parser parser_tool_call;  /* in parser_tool.c */

/* Takes the text between the last <command> and the last </command> as the action. False if there
 * are none. */
bool parse_tags(struct arena *a, const char *text, struct parsed *out);

/* A copy of the text with \n in place of each \r\n. */
const char *parse_lines(struct arena *a, const char *text);

/* Parses a JSON object. Errors call the text `name`. */
int parse_object(struct arena *a, const char *name, const char *text, const struct pyjson **out,
		struct fh_error *err);

#endif
