/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/command_file.h"

#include "agent/command_doc.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct command_file_reading {
	struct arena *arena;
	struct command_file *file;
	struct agent_command *commands;
	struct fh_error *err;
};

struct command_file_line {
	const char *text;
	size_t n;
	int number; /* number of the current line of the file, from 1 */
};

/* --- lines ------------------------------------------------------------------------------------ */

/* Reads the line at *at, and moves *at to the next one. False at the end of the file. */
static bool command_file_next_line(const char **at, const char *end, struct command_file_line *line)
{
	const char *stop;

	if (*at >= end)
		return false;
	stop = memchr(*at, '\n', (size_t)(end - *at));
	line->text = *at;
	line->n = (size_t)((stop ? stop : end) - *at);
	line->number++;
	*at = stop ? stop + 1 : end;
	return true;
}

static struct command_file_line command_file_strip(struct command_file_line line)
{
	while (line.n && isspace((unsigned char)*line.text)) {
		line.text++;
		line.n--;
	}
	while (line.n && isspace((unsigned char)line.text[line.n - 1]))
		line.n--;
	return line;
}

static bool command_file_line_is(struct command_file_line line, const char *text)
{
	return line.n == strlen(text) && memcmp(line.text, text, line.n) == 0;
}

static bool command_file_is_mark(struct command_file_line line)
{
	if (!line.n || *line.text != '#')
		return false;
	line.text++;
	line.n--;
	return command_file_line_is(command_file_strip(line), "@yaml");
}

static bool command_file_is_comment(struct command_file_line line)
{
	return line.n && *line.text == '#';
}

/* --- commands --------------------------------------------------------------------------------- */

static int command_file_complain(
		const struct command_file_reading *r, int line, int column, const char *what)
{
	return error_say(r->err, EINVAL, "%s:%d:%d: %s", r->file->path, line, column, what);
}

/* Adds a function as a command. Names with a leading underscore are functions for the file's other
 * functions: not added. */
static int command_file_add(
		struct command_file_reading *r, const char *name, const struct command_doc *doc)
{
	struct agent_command command = { .name = name };
	int result = command_doc_read(r->arena, doc, &command, r->err);

	if (result < 0 || *name == '_')
		return result;
	if (r->file->n_commands == COMMANDS_MAX)
		return error_say(r->err, EINVAL, "%s: more than %d commands", r->file->path,
				COMMANDS_MAX);
	r->commands[r->file->n_commands++] = command;
	return 0;
}

/* --- functions -------------------------------------------------------------------------------- */

/* Name of the function that a line "name() {" or "function name() {" begins. NULL for other
 * lines. */
static const char *command_file_function(struct arena *a, struct command_file_line line)
{
	static const char opening[] = "() {", word[] = "function ";
	struct command_file_line name = command_file_strip(line);

	if (name.n < strlen(opening) ||
			memcmp(name.text + name.n - strlen(opening), opening, strlen(opening)) != 0)
		return NULL;
	name.n -= strlen(opening);
	if (name.n > strlen(word) && memcmp(name.text, word, strlen(word)) == 0) {
		name.text += strlen(word);
		name.n -= strlen(word);
	}
	name = command_file_strip(name);
	if (!name.n || memchr(name.text, ' ', name.n) || memchr(name.text, '\t', name.n))
		return NULL;
	return arena_strndup(a, name.text, name.n);
}

static int command_file_read_functions(struct command_file_reading *r)
{
	const char *at = r->file->contents, *end = at + r->file->n_contents;
	struct command_doc doc = { .file = r->file->path };
	struct command_file_line line = { 0 };
	int result;

	while (command_file_next_line(&at, end, &line)) {
		int first = line.number;
		const char *name;

		if (command_file_is_mark(line))
			doc = (struct command_doc){
				.file = r->file->path, .text = at, .line = line.number + 1
			};
		if (command_file_is_comment(line)) {
			if (doc.text)
				doc.n = (size_t)(at - doc.text);
			continue;
		}
		name = command_file_function(r->arena, line);
		if (!name)
			continue;
		do
			if (!command_file_next_line(&at, end, &line))
				return command_file_complain(r, first, 1,
						"a function without an end: it needs a line that is just '}'");
		while (!command_file_line_is(command_file_strip(line), "}"));
		result = command_file_add(r, name, &doc);
		if (result < 0)
			return result;
		doc = (struct command_doc){ .file = r->file->path };
	}
	return 0;
}

/* --- scripts ---------------------------------------------------------------------------------- */

/* Finds the comment lines below `# @yaml` in a script. A second `# @yaml` is an error. */
static int command_file_find_block(const struct command_file_reading *r, struct command_doc *doc)
{
	const char *at = r->file->contents, *end = at + r->file->n_contents;
	struct command_file_line line = { 0 };
	bool within = false;

	while (command_file_next_line(&at, end, &line)) {
		if (command_file_is_mark(line) && doc->text)
			return command_file_complain(r, line.number, 1,
					"a second '@yaml': a script can have only one command");
		if (command_file_is_mark(line)) {
			doc->text = at;
			doc->line = line.number + 1;
			within = true;
			continue;
		}
		within = within && command_file_is_comment(line);
		if (within)
			doc->n = (size_t)(at - doc->text);
	}
	return 0;
}

static int command_file_read_script(struct command_file_reading *r)
{
	struct command_doc doc = { .file = r->file->path, .script = true };
	int result = command_file_find_block(r, &doc);

	if (result < 0)
		return result;
	if (doc.n)
		return command_file_add(r, r->file->name, &doc);
	if (*path_basename(r->file->path) == '_')
		return 0;
	return command_file_complain(r, 1, 1,
			"a script without a '# @yaml' block above its documentation: add "
			"one, or begin the file's name with '_' if it is not a command");
}

/* --- files ------------------------------------------------------------------------------------ */

static int command_file_find_kind(const struct command_file_reading *r)
{
	struct command_file *file = r->file;
	const char *base = path_basename(file->path), *text = file->contents;
	const char *dot = strrchr(base, '.');

	file->name = base;
	while (isspace((unsigned char)*text))
		text++;
	if (str_starts(text, "#!")) {
		file->kind = COMMAND_FILE_SCRIPT;
		if (dot)
			file->name = arena_strndup(r->arena, base, (size_t)(dot - base));
		return *file->name ? 0 : command_file_complain(r, 1, 1, "a script without a name");
	}
	if (str_ends(base, ".sh"))
		file->kind = COMMAND_FILE_SOURCED;
	else if (*base == '_')
		file->kind = COMMAND_FILE_HELPER;
	else
		return command_file_complain(r, 1, 1,
				"neither a script nor bash functions: begin a script with '#!', and "
				"put functions into a file named *.sh");
	return 0;
}

int command_file_parse(struct arena *a, const char *path, const char *text, size_t n,
		struct command_file *out, struct fh_error *err)
{
	struct command_file file = { .path = arena_strdup(a, path), .n_contents = n };
	struct command_file_reading r = { .arena = a, .file = &file, .err = err };
	int result;

	if (n > COMMAND_FILE_BYTES_MAX)
		return error_say(
				err, EFBIG, "%s: more than %d bytes", path, COMMAND_FILE_BYTES_MAX);
	if (memchr(text, '\0', n) || str_utf8_invalid(text, n) >= 0)
		return error_say(err, EINVAL, "%s: it is not text in UTF-8", path);
	file.contents = arena_strndup(a, text, n);
	r.commands = arena_array(a, COMMANDS_MAX, sizeof(*r.commands));
	result = command_file_find_kind(&r);
	if (result < 0)
		return result;
	result = file.kind == COMMAND_FILE_SCRIPT ? command_file_read_script(&r)
						  : command_file_read_functions(&r);
	if (result < 0)
		return result;
	file.commands = r.commands;
	*out = file;
	return 0;
}

int command_file_load(
		struct arena *a, const char *path, struct command_file *out, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(COMMAND_FILE_BYTES_MAX);
	int r = fd_read_file(path, &text, err);

	if (r < 0)
		return r;
	return command_file_parse(a, path, buf_str(&text), text.len, out, err);
}
