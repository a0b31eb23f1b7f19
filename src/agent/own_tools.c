/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/own_tools.h"

#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"

#include <string.h>

/*
 * Hashes of MLGym's bash tools at commit 9d40c1b, which start a dozen programs in each call. The
 * recorded runs of tests/corpus show that Fumehood's programs do the same.
 */
static const char *const own_tools_known[] = {
	"6879b0bba5059f287c2ea82999a82145677f21c5f34810540b41af470c5b25ea", /* defaults.sh */
	"1deb972bdf05bb5bfd4c7f1b93eb21de1f293c7149110396e602c77bfd333b04", /* edit_linting.sh */
	"da9c2a496ad51a4e62251710a493a6d631e07f2a87473013d4d439968b572856", /* insert_linting.sh */
	"908008bf3e45c145d82c773fd8dc4ec8394d82f47e191577f66e465166697c44", /* search.sh */
	"f3a2f6c90edc3ca683819d52f01f6e28e6156190beba17dd576b785de01f4f01", /* _split_string.py */
};

/* Shell functions that call Fumehood's programs. tests/corpus/world.py reads this text from this
 * file. */
/* clang-format off */
static const char own_tools_script[] =
	"# Sourced in the place of MLGym's functions: our programs of the same names, and the variables and the status\n"
	"# that its functions leave behind.\n"
	"\n"
	"_own_tools_note() {\n"
	"\tlocal noted=/home/agent/.fumehood/editor IFS=$' \\t\\n'\n"
	"\t[ -r \"$noted\" ] || return 0\n"
	"\t{\n"
	"\t\tread -r CURRENT_LINE SCROLL_COUNT\n"
	"\t\tIFS= read -r CURRENT_FILE\n"
	"\t} <\"$noted\"\n"
	"\texport CURRENT_FILE CURRENT_LINE=${CURRENT_LINE%.0} SCROLL_COUNT\n"
	"}\n"
	"\n"
	"# Notes which file is open, if the agent's shell has set CURRENT_FILE since.\n"
	"_own_tools_tell() {\n"
	"\tlocal noted=/home/agent/.fumehood/editor place= file= open=${CURRENT_FILE-}\n"
	"\t[ -f \"$noted\" ] || return 0\n"
	"\t{\n"
	"\t\tIFS= read -r place && IFS= read -r file\n"
	"\t} <\"$noted\" || :\n"
	"\t[ \"$file\" != \"$open\" ] || return 0\n"
	"\t[ -z \"$open\" ] || [ \"${open#/}\" != \"$open\" ] || open=$PWD/$open\n"
	"\tprintf '%s\\n%s\\n' \"$place\" \"$open\" >|\"$noted\"\n"
	"}\n"
	"\n"
	"# Its functions end with 0 whatever they say, but for an edit of a file that may not be written.\n"
	"_own_tool() {\n"
	"\tlocal name=$1 status\n"
	"\tshift\n"
	"\t_own_tools_tell\n"
	"\tWINDOW=${WINDOW-} OVERLAP=${OVERLAP-} \"/fumehood/bin/$name\" \"$@\"\n"
	"\tstatus=$?\n"
	"\t_own_tools_note\n"
	"\t[ \"$status\" -eq 1 ] || return \"$status\"\n"
	"\tcase $name in\n"
	"\tedit | insert) [ -w \"${CURRENT_FILE-}\" ] || [ ! -e \"${CURRENT_FILE-}\" ] ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"_own_tools() {\n"
	"\tlocal name\n"
	"\tfor name; do\n"
	"\t\teval \"$name() { _own_tool $name \\\"\\$@\\\"; }\"\n"
	"\tdone\n"
	"\t_own_tools_note\n"
	"}\n";

/* Replaces MLGym's shell function `state`, which starts the program realpath after each step. The
 * new function prints the open file's path itself if that is a real path. For a path with links or
 * unusual characters it calls MLGym's function. */
static const char own_tools_state_script[] =
	"\n"
	"_own_tools_is_real() {\n"
	"\tlocal at=${CURRENT_FILE-}\n"
	"\t[[ $at =~ ^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$ && -d ${at%/*} && -x ${at%/*} ]] || return\n"
	"\twhile [[ $at ]]; do\n"
	"\t\t[[ ! -L $at ]] || return\n"
	"\t\tat=${at%/*}\n"
	"\tdone\n"
	"}\n"
	"eval \"_own_tools_$(declare -f state)\"\n"
	"state() {\n"
	"\tif _own_tools_is_real; then\n"
	"\t\techo '{\"open_file\": \"'$CURRENT_FILE'\", \"working_dir\": \"'$PWD'\"}'\n"
	"\telse\n"
	"\t\t_own_tools_state\n"
	"\tfi\n"
	"}\n";
/* clang-format on */

#define TOOLS_TEXT_BYTES_MAX (64 * 1024)

/* Hash of the code of state_command in MLGym's default.yaml and default_lit_search.yaml. */
static const char own_tools_known_state[] =
		"f9e163534b5e575ccda28a9557464a89a6998d2f250e9c05a5551453381e6087";

static bool own_tools_is_known(const struct command_file *file)
{
	char hex[SHA256_HEX_BYTES];

	sha256_bytes(file->contents, file->n_contents, hex);
	for (size_t i = 0; i < ARRAY_SIZE(own_tools_known); i++)
		if (str_eq(own_tools_known[i], hex))
			return true;
	return false;
}

/* True if the file defines functions other than `validate` and `submit`. These two are always
 * Fumehood's programs. */
static bool own_tools_is_sourced(const struct command_file *file)
{
	bool others = !file->n_commands;

	for (size_t i = 0; i < file->n_commands; i++)
		others = others || !command_asks_for_score(file->commands[i].name);
	return file->kind == COMMAND_FILE_SOURCED && others;
}

/* Checks all command files together, because functions call functions and scripts of other files.
 * So Fumehood's programs replace MLGym's tools in all files, or in none. */
bool own_tools_fit(const struct command_file *files, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		bool helps = *files[i].name == '_';

		any = any || own_tools_is_sourced(&files[i]);
		if ((own_tools_is_sourced(&files[i]) || helps) && !own_tools_is_known(&files[i]))
			return false;
	}
	return any;
}

const char *own_tools_text(struct arena *a, const struct command_file *file)
{
	auto_buf struct buf text = BUF_INIT(TOOLS_TEXT_BYTES_MAX);

	if (!own_tools_is_sourced(file))
		return NULL;
	buf_add_str(&text, own_tools_script);
	buf_add_str(&text, "\n_own_tools");
	for (size_t i = 0; i < file->n_commands; i++)
		buf_printf(&text, " %s", file->commands[i].name);
	buf_add_char(&text, '\n');
	return arena_strdup(a, buf_str(&text));
}

const char *own_tools_state(const char *code)
{
	char hex[SHA256_HEX_BYTES];

	sha256_bytes(code, strlen(code), hex);
	return str_eq(own_tools_known_state, hex) ? own_tools_state_script : "";
}
