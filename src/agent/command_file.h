/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_FILE_H
#define AGENT_COMMAND_FILE_H

#include "agent/command.h"
#include "base/buf.h"
#include "base/error.h"
#include "config/schema.h"

/*
 * Command files hold an agent's tools, in MLGym's format. There are three kinds:
 *
 *   defaults.sh         no shebang: bash functions, sourced into the agent's shell
 *   search_papers.py    a shebang: a program on PATH without its ending, with one `# @yaml` block
 *   _helpers.py         a leading underscore: used by other files, and not documented
 *
 * A function begins at `name() {` and ends at the next line that is `}`. Comment lines from a `#
 * @yaml` above it document it:
 *
 *   # @yaml
 *   # signature: peek <file>
 *   # docstring: shows {WINDOW} lines of a file
 *   # arguments:
 *   #   file:
 *   #     type: string
 *   #     description: which file
 *   #     required: true
 *   peek() {
 *           head -n "$WINDOW" "$1"
 *   }
 *
 * All strings live in the arena that is given. Errors name file, line and column.
 */

#define COMMAND_FILE_BYTES_MAX (256 * 1024)
#define COMMANDS_MAX 128 /* most commands in a file */

enum command_file_kind {
	COMMAND_FILE_SOURCED, /* sourced by the agent's shell */
	COMMAND_FILE_SCRIPT,  /* a program that the agent runs by its name */
	COMMAND_FILE_HELPER,  /* used by other command files, not by the agent itself */
};

struct command_file {
	const char *path;
	const char *name; /* name of the file inside the sandbox */
	enum command_file_kind kind;
	const char *contents; /* text of the file: n_contents bytes, then a NUL */
	size_t n_contents;
	/* commands in the file, without names that begin with `_` */
	const struct agent_command *commands;
	size_t n_commands;
};

/* Loads a command file. -EINVAL with "FILE:LINE:COLUMN: ...", or an error of reading the file. */
int command_file_load(
		struct arena *a, const char *path, struct command_file *out, struct fh_error *err);

/* Reads a command file from its text. `path` is its name for errors. */
int command_file_parse(struct arena *a, const char *path, const char *text, size_t n,
		struct command_file *out, struct fh_error *err);

/* --- command_docs.c --------------------------------------------------------------------------- */

/* Styles of documentation in prompts, with the names of MLGym's parsers. */
enum command_docs { COMMAND_DOCS_BASH, COMMAND_DOCS_DETAILED };

/* "ParseCommandBash", ... by enum command_docs; ends with NULL */
extern const char *const command_docs_names[];

/*
 * Appends the documentation of all commands in the files, in order. In a docstring, `{field}` is
 * replaced by the field's value, and `{{` by a brace. -EINVAL: unknown field.
 */
int command_docs_add(struct buf *out, enum command_docs style, const struct command_file *files,
		size_t n, const struct text_map *variables, struct fh_error *err);

#endif
