/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_FILE_H
#define AGENT_COMMAND_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "config/schema.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Command files: what an agent's tools are written in, as MLGym has them. Three sorts are told apart by
 * how a file begins and what it is called:
 *
 *   defaults.sh         no shebang: bash functions, sourced into the agent's shell;
 *   search_papers.py    a shebang: a program on PATH, named without its ending, with one `# @yaml` block;
 *   _helpers.py         a leading underscore: there for the others, and nothing that agents are told of.
 *
 * A function is `name() {` up to the next line that is `}`; the comment lines from a `# @yaml` above it
 * document it:
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
 * All strings live in the arena that a file was read into. Errors name file, line and column.
 */
#define COMMAND_FILE_BYTES_MAX (256 * 1024)
#define COMMANDS_MAX 128 /* of one file */

enum command_file_kind {
	COMMAND_FILE_SOURCED, /* by the agent's shell */
	COMMAND_FILE_SCRIPT,  /* run by its name */
	COMMAND_FILE_HELPER,  /* read by others */
};

struct command_argument {
	const char *name, *type, *description; /* the last two "" when not given */
	bool required;
};

struct agent_command {
	const char *name;
	const char *signature; /* NULL: nothing but the name, in a script */
	const char *docstring; /* with its {fields}; NULL: none */
	const char *end_name;  /* the word that ends its here-document; NULL: it takes one line */
	const struct command_argument *arguments;
	size_t n_arguments;
	bool has_arguments;    /* said so, though there may be none */
	const struct node *at; /* for complaints about its docstring; NULL: no docstring */
};

struct command_file {
	const char *path;
	const char *name; /* what it is called where it is installed */
	enum command_file_kind kind;
	const char *contents; /* followed by a NUL byte that n_contents leaves out */
	size_t n_contents;
	const struct agent_command *commands; /* not those whose names begin with `_` */
	size_t n_commands;
};

/* -EINVAL with the place; -ENOENT and the like for a file that can't be read. */
int command_file_load(
		struct arena *a, const char *path, struct command_file *out, struct fh_error *err);

/* The same of a text that is there already; `path` is what it is called. */
int command_file_parse(struct arena *a, const char *path, const char *text, size_t n,
		struct command_file *out, struct fh_error *err);

/* --- command_docs.c --------------------------------------------------------------------------- */

/* What agents are told of their commands, by the name of MLGym's parser. */
enum command_docs { COMMAND_DOCS_BASH, COMMAND_DOCS_DETAILED };

extern const char *const command_docs_names[]; /* ParseCommandBash, ...; NULL-terminated */

/*
 * Appends the documentation of all commands of the files, in their order. `{field}` in a docstring is the
 * field's value, `{{` and `}}` are braces; a field that is not there is -EINVAL.
 */
int command_docs_add(struct buf *out, enum command_docs style, const struct command_file *files,
		size_t n, const struct text_map *fields, struct fh_error *err);

#endif
