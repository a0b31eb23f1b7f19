/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PARSER_TEXT_H
#define AGENT_PARSER_TEXT_H

#include "agent/parsed.h"
#include "base/arena.h"
#include "base/error.h"
#include "python/pyjson.h"

#include <stdbool.h>

/* Parts of parsing that several output parsers share. */

/* Takes the text between the last <command> and the last </command> as the action. False if one
 * of them is missing. */
bool parse_tags(struct arena *a, const char *text, struct parsed *out);

/* Returns the text with \n in place of each \r\n: a copy, if there are any. */
const char *parse_lines(struct arena *a, const char *text);

/* Parses a JSON object. Errors call the text `name`. */
int parse_object(struct arena *a, const char *name, const char *text, const struct pyjson **out,
		struct fh_error *err);

#endif
