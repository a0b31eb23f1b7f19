/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include "python/pyjson.h"

/* Makes JSON of the tables of commands, for completions and other manuals. */

static const char *const kinds[] = {
	[OPTION_FLAG] = "flag",
	[OPTION_TEXT] = "text",
	[OPTION_PATH] = "text",
	[OPTION_INT] = "integer",
	[OPTION_UINT64] = "integer",
	[OPTION_NUMBER] = "number",
	[OPTION_SECONDS] = "seconds",
	[OPTION_BYTES] = "bytes",
	[OPTION_CHOICE] = "choice",
	[OPTION_LIST] = "list",
	[OPTION_REPEAT] = "repeated",
	[OPTION_NOTED] = "ignored",
	[OPTION_REFUSED] = "refused",
};

static void help_json_put_option(struct pyjson_writer *w, const struct cmd_option *o)
{
	const char letter[] = { o->letter, '\0' };

	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "name", o->name);
	pyjson_put_text(w, "letter", o->letter ? letter : NULL);
	pyjson_put_text(w, "kind", kinds[o->kind]);
	pyjson_put_text(w, "value", o->value);
	pyjson_put_text(w, "help", o->help);
	pyjson_put_text(w, "default", o->preset);
	if (o->min || o->max) {
		pyjson_put_i64(w, "min", o->min);
		pyjson_put_i64(w, "max", o->max ? o->max : INT64_MAX);
	}
	if (o->least > 0)
		pyjson_put_double(w, "least", o->least);
	if (o->choices) {
		pyjson_put_array(w, "choices");
		for (int i = 0; o->choices[i]; i++)
			pyjson_put_text(w, NULL, o->choices[i]);
		pyjson_end_array(w);
	}
	pyjson_end_object(w);
}

static void help_json_put_command(struct pyjson_writer *w, const struct command *c)
{
	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "name", c->name);
	pyjson_put_text(w, "summary", c->summary);
	pyjson_put_text(w, "arguments", c->arguments);
	pyjson_put_array(w, "options");
	for (const struct cmd_option *o = c->options; o && o->kind; o++)
		help_json_put_option(w, o);
	pyjson_end_array(w);
	pyjson_put_array(w, "commands");
	for (size_t i = 0; c->commands && c->commands[i]; i++)
		help_json_put_command(w, c->commands[i]);
	pyjson_end_array(w);
	pyjson_end_object(w);
}

void cmd_help_json(struct buf *out, const struct command *command)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);

	help_json_put_command(&w, command);
	buf_add_char(out, '\n');
}
