/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/command_setup.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/tools.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define SCRIPT_BYTES_MAX (1 << 20)
#define ALIASES "bash_aliases.sh" /* as MLGym calls it */

/* Names that the shell takes without quotes, so that none is needed. */
static bool is_safe(const char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_-.+", *name))
			return false;
	return true;
}

static void add_variables(struct buf *script, const struct command_setup *commands)
{
	const struct text_map *variables = commands->env_variables;

	for (size_t i = 0; i < variables->n; i++) {
		buf_printf(script, "%s=%s\n", variables->pairs[i].key, variables->pairs[i].value);
		if (commands->exported)
			buf_printf(script, "export %s\n", variables->pairs[i].key);
	}
}

/* MLGym's commands of these names print a marker that asks for a score. Here that is asked for by programs
 * of the same names, and a marker in an output is a text like any other. */
bool command_asks_for_score(const char *name)
{
	return str_eq(name, "validate") || str_eq(name, "submit");
}

/* MLGym's scripts that a sandbox has nothing for: a network to ask, a model's weights to load. Our programs of
 * these names do what they say. One that does it in a way of its own has no such line, and runs. */
static const struct {
	const char *name, *needs;
} helpless[] = {
	{ "literature_search", "\nimport requests\n" },
	{ "parse_pdf_url", "\nimport requests\n" },
	{ "memory_read", "\nfrom transformers import " },
	{ "memory_write", "\nfrom transformers import " },
};

/* Of a script that may not be executed the shell finds the next one on its PATH: ours. */
static bool gives_way(const struct command_file *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(helpless); i++)
		if (str_eq(file->name, helpless[i].name) &&
				strstr(file->contents, helpless[i].needs))
			return true;
	return command_asks_for_score(file->name);
}

static void add_unset(struct buf *script, const struct command_file *file)
{
	for (size_t i = 0; i < file->n_commands; i++)
		if (command_asks_for_score(file->commands[i].name))
			buf_printf(script, " &&\n\tunset -f %s", file->commands[i].name);
}

/* The last command's status is the script's. */
static void add_sources(struct buf *script, const struct command_setup *commands)
{
	buf_add_str(script, commands->aliases ? "test $__aliases = 0 && unset __aliases" : "true");
	for (size_t i = 0; i < commands->n_files; i++) {
		if (commands->files[i].kind != COMMAND_FILE_SOURCED)
			continue;
		buf_printf(script, " &&\n\tsource " SETUP_DIR "/%s", commands->files[i].name);
		add_unset(script, &commands->files[i]);
	}
	buf_add_char(script, '\n');
}

static int check_files(const struct command_setup *commands, struct fh_error *err)
{
	for (size_t i = 0; i < commands->n_files; i++) {
		const char *name = commands->files[i].name;

		if (!is_safe(name))
			return error_say(err, EINVAL,
					"%s: a file of commands is named with letters, digits and "
					"_-.+ only",
					commands->files[i].path);
		if (commands->aliases && str_eq(name, ALIASES))
			return error_say(err, EINVAL, "%s: that is the name of the aliases",
					commands->files[i].path);
		for (size_t j = 0; j < i; j++)
			if (str_eq(commands->files[j].name, name))
				return error_say(err, EINVAL, "%s: '%s' is there already, from %s",
						commands->files[i].path, name,
						commands->files[j].path);
	}
	return 0;
}

static int read_aliases(
		struct arena *a, const char *path, struct env_setup_file *out, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(SETUP_FILE_BYTES_MAX);
	int r = fd_read_file(path, &text, err);

	if (r < 0)
		return r;
	*out = (struct env_setup_file){
		.name = ALIASES,
		.data = arena_strndup(a, buf_str(&text), text.len),
		.n = text.len,
	};
	return 0;
}

/* There is room for one more. */
static struct env_setup_file *make_files(
		struct arena *a, const struct command_setup *commands, bool own)
{
	struct env_setup_file *files = arena_array(a, commands->n_files + 1, sizeof(*files));

	for (size_t i = 0; i < commands->n_files; i++) {
		const struct command_file *file = &commands->files[i];
		const char *text = own ? own_tools_text(a, file) : NULL;

		files[i] = (struct env_setup_file){
			.name = file->name,
			.data = text ? text : file->contents,
			.n = text ? strlen(text) : file->n_contents,
			.executable = file->kind == COMMAND_FILE_SCRIPT && !gives_way(file),
		};
	}
	return files;
}

static void add_multiline(
		struct arena *a, const struct command_setup *commands, struct env_setup *out)
{
	struct multiline *all = arena_array(a, commands->n_files * COMMANDS_MAX + 1, sizeof(*all));

	for (size_t i = 0; i < commands->n_files; i++)
		for (size_t j = 0; j < commands->files[i].n_commands; j++) {
			const struct agent_command *c = &commands->files[i].commands[j];

			if (c->end_name)
				all[out->n_multiline++] =
						(struct multiline){ c->name, c->end_name };
		}
	out->multiline = all;
}

int command_setup_make(struct arena *a, const struct command_setup *commands, struct env_setup *out,
		struct fh_error *err)
{
	auto_buf struct buf script = BUF_INIT(SCRIPT_BYTES_MAX);
	bool own = !commands->original_tools && own_tools_fit(commands->files, commands->n_files);
	struct env_setup_file *files = make_files(a, commands, own);
	size_t n = commands->n_files;
	int r = check_files(commands, err);

	if (r == 0 && commands->aliases)
		r = read_aliases(a, commands->aliases, &files[n++], err);
	if (r < 0)
		return r;
	if (commands->aliases)
		buf_add_str(&script,
				"shopt -s expand_aliases\nsource " SETUP_DIR "/" ALIASES
				"\n__aliases=$?\n");
	if (commands->state_code)
		buf_printf(&script, "%s\n", commands->state_code);
	if (commands->env_variables)
		add_variables(&script, commands);
	if (commands->edits_at_once && (own || !commands->n_files))
		buf_add_str(&script, "/fumehood/bin/edit " GUEST_EDIT_READY "\n");
	add_sources(&script, commands);
	if (script.truncated)
		return error_say(err, E2BIG,
				"the state command and the variables have over %d bytes",
				SCRIPT_BYTES_MAX);
	*out = (struct env_setup){
		.files = files,
		.n_files = n,
		.script = arena_strdup(a, buf_str(&script)),
		.state = commands->state_name ? arena_strdup(a, commands->state_name) : NULL,
	};
	add_multiline(a, commands, out);
	return 0;
}
