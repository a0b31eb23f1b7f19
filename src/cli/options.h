/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/command.h"

/* A parsed command line. All pointers point into the arena or argv. */
struct parsed_options {
	void *values;      /* the command's struct of options, filled in */
	const bool *given; /* true for given options, by index into the table of options */
	const char *const *args;
	size_t n_args;
	bool help, json;
};

/*
 * Parses the words after the command's name. -EINVAL with a sentence that names the wrong option.
 * Adds a line to `notes` for each option without effect.
 */
int options_parse(const struct command *command, const char *const *words, size_t n_words,
		struct arena *arena, struct buf *notes, struct parsed_options *out,
		struct fh_error *err);

/* Table of the options that a command has besides its own: --help and --json. Help lists them last.
 * A command refuses --json by an option of that name in its own table. */
const struct cmd_option *options_common(const struct command *c);

/* True if options a and b are two spellings of one option. */
bool option_same(const struct cmd_option *a, const struct cmd_option *b);

#endif
