/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/native.h"

#include "agent/argument.h"
#include "base/scope.h"
#include "base/str.h"
#include "python/pyjson.h"

#include <errno.h>

/* Descriptions of Fumehood's own commands for prompts and models. tools/aci has their code, and
 * docs/tools.md describes them for people. */

#define SCHEMA_BYTES_MAX 65536
#define ARGUMENTS(...)                                                                             \
	(const struct command_argument[]){ __VA_ARGS__ },                                          \
			ARRAY_SIZE(((const struct command_argument[]){ __VA_ARGS__ })), true

static const struct agent_command natives[] = {
	{ "open", "open <path> [<line_number>]",
			"opens a file and shows it, at the line that is given; later commands are about it",
			NULL,
			ARGUMENTS({ "path", "string", "the file", true },
					{ "line_number", "integer",
							"the line to show; the beginning otherwise",
							false }) },
	{ "goto", "goto <line_number>", "shows the open file around a line", NULL,
			ARGUMENTS({ "line_number", "integer", "the line to show", true }) },
	{ "scroll_down", "scroll_down", "shows what follows in the open file", NULL, NULL, 0 },
	{ "scroll_up", "scroll_up", "shows what comes before it in the open file", NULL, NULL, 0 },
	{ "create", "create <filename>", "makes a new file and opens it", NULL,
			ARGUMENTS({ "filename", "string", "the new file", true }) },
	{ "edit", "edit <start_line>:<end_line>\n<replacement_text>\nend_of_edit",
			"replaces lines of the open file, both ends included; a Python file must parse "
			"afterwards, or it stays as it was",
			"end_of_edit",
			ARGUMENTS({ "start_line", "integer", "the first line to replace", true },
					{ "end_line", "integer", "the last line to replace", true },
					{ "replacement_text", "string",
							"the new lines, with their indentation; none deletes the old ones",
							true }) },
	{ "insert", "insert <line_number>\n<text_to_add>\nend_of_insert",
			"inserts lines into the open file, after the line that is given",
			"end_of_insert",
			ARGUMENTS({ "line_number", "integer",
						  "the line to insert after; 0: before the first",
						  true },
					{ "text_to_add", "string",
							"the new lines, with their indentation",
							true }) },
	{ "search_dir", "search_dir <search_term> [<dir>]", "finds a text in the files of a folder",
			NULL,
			ARGUMENTS({ "search_term", "string", "a basic regular expression", true },
					{ "dir", "string", "the folder; the current one otherwise",
							false }) },
	{ "search_file", "search_file <search_term> [<file>]", "finds a text in a file", NULL,
			ARGUMENTS({ "search_term", "string", "a basic regular expression", true },
					{ "file", "string", "the file; the open one otherwise",
							false }) },
	{ "find_file", "find_file <file_name> [<dir>]", "finds files by their name", NULL,
			ARGUMENTS({ "file_name", "string", "a name, or a pattern like *.py", true },
					{ "dir", "string", "the folder; the current one otherwise",
							false }) },
	{ "validate", "validate", "scores what is there now; the episode goes on", NULL, NULL, 0 },
	{ "submit", "submit", "scores what is there now and ends the episode", NULL, NULL, 0 },
	{ "describe", "describe <path>",
			"tells a data file's columns, their types, missing values and quantiles",
			NULL, ARGUMENTS({ "path", "string", "a CSV or JSONL file", true }) },
	{ "plot", "plot <path> <x> <y>", "draws two columns against each other, as text", NULL,
			ARGUMENTS({ "path", "string", "a CSV file", true },
					{ "x", "string", "the column of the horizontal axis",
							true },
					{ "y", "string", "the column of the vertical axis",
							true }) },
	{ "memory_write", "memory_write <content_str> [<tag>]", "remembers something", NULL,
			ARGUMENTS({ "content_str", "string",
						  "what to remember, in a sentence or a few",
						  true },
					{ "tag", "string", "a word to find it by", false }) },
	{ "memory_read", "memory_read <query_str>", "gives the two memories that are nearest", NULL,
			ARGUMENTS({ "query_str", "string", "what it is about", true }) },
	{ "literature_search", "literature_search <search_term> [<num_results>]",
			"finds papers: a line of JSON each, with paperId, title, abstract and pdf_url",
			NULL,
			ARGUMENTS({ "search_term", "string",
						  "what the papers are about; quotes around several words",
						  true },
					{ "num_results", "integer", "how many, 20 otherwise",
							false }) },
	{ "parse_pdf_url", "parse_pdf_url <pdf_url>", "prints the text of a PDF of the web", NULL,
			ARGUMENTS({ "pdf_url", "string", "its address", true }) },
};

static const struct commands all_natives = { natives, ARRAY_SIZE(natives) };

int native_commands(struct arena *a, const struct texts *names, struct commands *out,
		struct fh_error *err)
{
	struct agent_command *items = arena_array(a, names->n + 1, sizeof(*items));

	for (size_t i = 0; i < names->n; i++) {
		const struct agent_command *c = commands_find(&all_natives, names->items[i]);

		if (!c)
			return error_say(err, EINVAL, "there is no command '%s'", names->items[i]);
		items[i] = *c;
	}
	*out = (struct commands){ items, names->n };
	return 0;
}

const char *const *native_words(size_t *out_n)
{
	static const char *words[ARRAY_SIZE(natives) + 4] = { "end_multiline_command",
		"exit_forfeit", "skip", "start_multiline_command" };

	for (size_t i = 0; i < ARRAY_SIZE(natives); i++)
		words[4 + i] = natives[i].name;
	*out_n = ARRAY_SIZE(words);
	return words;
}

/* --- tools ------------------------------------------------------------------------------------ */

/* A JSON Schema of the command's arguments: https://json-schema.org */
static const char *native_schema(struct arena *a, const struct agent_command *c)
{
	auto_buf struct buf out = BUF_INIT(SCHEMA_BYTES_MAX);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&out, PYJSON_LINE);

	pyjson_put_object(&w, NULL);
	pyjson_put_text(&w, "type", "object");
	pyjson_put_object(&w, "properties");
	for (size_t i = 0; i < c->n_arguments; i++) {
		pyjson_put_object(&w, c->arguments[i].name);
		pyjson_put_text(&w, "type", argument_type_of(&c->arguments[i])->name);
		pyjson_put_text(&w, "description", c->arguments[i].description);
		pyjson_end_object(&w);
	}
	pyjson_end_object(&w);
	pyjson_put_array(&w, "required");
	for (size_t i = 0; i < c->n_arguments; i++)
		if (c->arguments[i].required)
			pyjson_put_text(&w, NULL, c->arguments[i].name);
	pyjson_end_array(&w);
	pyjson_end_object(&w);
	return arena_strdup(a, buf_str(&out));
}

const struct agent_command tool_shell = { "bash", NULL,
	"runs a command in the shell of the workspace", NULL,
	ARGUMENTS({ "command", "string", "a line for the shell, or several", true }) };

const struct agent_command *tool_find(const struct commands *all, const char *name)
{
	return str_eq(name, tool_shell.name) ? &tool_shell : commands_find(all, name);
}

struct chat_tool *command_tools(struct arena *a, const struct commands *all, size_t *out_n)
{
	struct chat_tool *tools = arena_array(a, all->n + 1, sizeof(*tools));

	for (size_t i = 0; i <= all->n; i++) {
		const struct agent_command *c = i ? &all->items[i - 1] : &tool_shell;

		tools[i] = (struct chat_tool){ c->name, c->docstring ? c->docstring : "",
			native_schema(a, c) };
	}
	*out_n = all->n + 1;
	return tools;
}
