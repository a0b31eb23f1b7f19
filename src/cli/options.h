/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/command.h"

/* A command line, read by the tables of a command. All pointers lead into the arena or argv. */
struct parsed_options {
	void *values;      /* the command's struct of options */
	const bool *given; /* by index into its table */
	const char *const *args;
	size_t n_args;
	bool help, json;
};

/*
 * Reads the words after the command's name. -EINVAL with a sentence that names the option. Adds a
 * line to `notes` for each option without effect.
 */
int options_parse(const struct command *command, const char *const *words, size_t n_words,
		struct arena *arena, struct buf *notes, struct parsed_options *out,
		struct fh_error *err);

/* Options of all commands. Help prints them after the command's own. */
extern const struct cmd_option options_common[];

/* True if b is another spelling of a. */
bool option_same(const struct cmd_option *a, const struct cmd_option *b);

#endif
