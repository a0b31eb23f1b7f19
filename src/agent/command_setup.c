/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/command_setup.h"

#include "agent/own_tools.h"
#include "base/fd.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/tools.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define COMMAND_SCRIPT_BYTES_MAX (1 << 20)
#define ALIASES "bash_aliases.sh" /* name of the file of aliases in the sandbox, as in MLGym */

/* Scripts of MLGym that need a network or a model's weights: Fumehood's programs replace them. A
 * user's script of the same name does not contain the text `needs`, so it runs itself. */
static const struct {
	const char *name, *needs;
} command_setup_replaced[] = {
	{ "literature_search", "\nimport requests\n" },
	{ "parse_pdf_url", "\nimport requests\n" },
	{ "memory_read", "\nfrom transformers import " },
	{ "memory_write", "\nfrom transformers import " },
};

/* True for a script that a program of Fumehood's replaces. It gets no execute permission, so that
 * the shell finds the program later on its PATH. */
static bool command_setup_is_replaced(const struct command_file *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(command_setup_replaced); i++)
		if (str_eq(file->name, command_setup_replaced[i].name) &&
				strstr(file->contents, command_setup_replaced[i].needs))
			return true;
	return command_asks_for_score(file->name);
}

/* Appends commands that source each file and remove its functions that would hide `validate` or
 * `submit`. They are joined by &&, so that the script's status is 0 only if all succeed. */
static void command_setup_add_sources(struct buf *script, const struct command_setup *commands)
{
	buf_add_str(script, commands->aliases ? "test $__aliases = 0 && unset __aliases" : "true");
	for (size_t i = 0; i < commands->n_files; i++) {
		const struct command_file *file = &commands->files[i];

		if (file->kind != COMMAND_FILE_SOURCED)
			continue;
		buf_printf(script, " &&\n\tsource " SETUP_DIR "/%s", file->name);
		for (size_t j = 0; j < file->n_commands; j++)
			if (command_asks_for_score(file->commands[j].name))
				buf_printf(script, " &&\n\tunset -f %s", file->commands[j].name);
	}
	buf_add_char(script, '\n');
}

static int command_setup_check_files(const struct command_setup *commands, struct fh_error *err)
{
	for (size_t i = 0; i < commands->n_files; i++) {
		const char *name = commands->files[i].name;
		size_t n = 0;

		while (isalnum((unsigned char)name[n]) || (name[n] && strchr("_-.+", name[n])))
			n++;
		if (name[n]) /* a name with other characters would need quotes in the shell */
			return error_say(err, EINVAL,
					"%s: a file of commands is named with letters, digits and "
					"_-.+ only",
					commands->files[i].path);
		if (commands->aliases && str_eq(name, ALIASES))
			return error_say(err, EINVAL,
					"%s: the file has the name of the aliases' file: rename it",
					commands->files[i].path);
		for (size_t j = 0; j < i; j++)
			if (str_eq(commands->files[j].name, name))
				return error_say(err, EINVAL,
						"%s: the name '%s' is taken by %s: rename one of them",
						commands->files[i].path, name,
						commands->files[j].path);
	}
	return 0;
}

/* Makes the array of files for the sandbox, with room for the file of aliases. */
static struct env_setup_file *command_setup_make_files(
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
			.executable = file->kind == COMMAND_FILE_SCRIPT &&
					!command_setup_is_replaced(file),
		};
	}
	return files;
}

static void command_setup_add_multiline(
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

struct command_setup command_setup_of(const struct agent_config *agent)
{
	const struct tools_config *tools = agent ? &agent->keys.tools : NULL;

	if (!agent)
		return (struct command_setup){ 0 };
	return (struct command_setup){
		.files = agent->files,
		.n_files = agent->n_files,
		.env_variables = &tools->env_variables,
		.exported = tools->native.n > 0,
		.state_name = tools->state_command.name,
		.state_code = tools->state_command.code,
		.original_tools = agent->original_tools,
	};
}

int command_setup_make(struct arena *a, const struct command_setup *commands, struct env_setup *out,
		struct fh_error *err)
{
	auto_buf struct buf script = BUF_INIT(COMMAND_SCRIPT_BYTES_MAX);
	auto_buf struct buf aliases = BUF_INIT(SETUP_FILE_BYTES_MAX);
	bool own = !commands->original_tools && own_tools_fit(commands->files, commands->n_files);
	struct env_setup_file *files = command_setup_make_files(a, commands, own);
	const struct text_map *variables = commands->env_variables;
	size_t n = commands->n_files;
	int r = command_setup_check_files(commands, err);

	if (r < 0)
		return r;
	if (commands->aliases) {
		r = fd_read_file(commands->aliases, &aliases, err);
		if (r < 0)
			return r;
		files[n] = (struct env_setup_file){
			.name = ALIASES,
			.data = arena_strndup(a, buf_str(&aliases), aliases.len),
			.n = aliases.len,
		};
		n++;
		buf_add_str(&script,
				"shopt -s expand_aliases\nsource " SETUP_DIR "/" ALIASES
				"\n__aliases=$?\n");
	}
	if (commands->state_code)
		buf_printf(&script, "%s\n%s", commands->state_code,
				own ? own_tools_state(commands->state_code) : "");
	for (size_t i = 0; variables && i < variables->n; i++) {
		buf_printf(&script, "%s=%s\n", variables->pairs[i].key, variables->pairs[i].value);
		if (commands->exported)
			buf_printf(&script, "export %s\n", variables->pairs[i].key);
	}
	if (commands->edits_at_once && (own || !commands->n_files))
		buf_add_str(&script, "/fumehood/bin/edit " GUEST_EDIT_READY "\n");
	command_setup_add_sources(&script, commands);
	if (script.truncated)
		return error_say(err, E2BIG,
				"the state command and the variables have over %d bytes",
				COMMAND_SCRIPT_BYTES_MAX);
	*out = (struct env_setup){
		.files = files,
		.n_files = n,
		.script = arena_strdup(a, buf_str(&script)),
		.state = commands->state_name ? arena_strdup(a, commands->state_name) : NULL,
	};
	command_setup_add_multiline(a, commands, out);
	return 0;
}
