/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/arena.h"
#include "cli/cmd.h"

/* A command line read against the tables of a command. Everything lives in the arena or in argv. */
struct parsed_options {
	void *values;      /* the command's struct of options */
	const bool *given; /* by index into its table */
	const char *const *args;
	size_t n_args;
	bool help, json;
};

/*
 * Reads the words after the command's name. -EINVAL with a sentence that names the option. What is
 * taken without being used is said in `notes`, a line each.
 */
int options_parse(const struct command *command, const char *const *words, size_t n_words,
		struct arena *arena, struct buf *notes, struct parsed_options *out,
		struct fh_error *err);

/* Options that every command has: the table that help prints after the command's own. */
extern const struct cmd_option options_common[];

/* True if b is another spelling of a. */
bool option_same(const struct cmd_option *a, const struct cmd_option *b);

/* Whether a command takes as many arguments. -EINVAL. */
int options_check_arguments(
		const struct command *c, const struct texts *args, struct fh_error *err);

#endif
