/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_LOG_OPTIONS_H
#define CMD_LOG_OPTIONS_H

#include "base/log.h"
#include "cli/cmd.h"

/* Options of commands that write a log: rows for their option tables, and the function that reads
 * them. */

struct log_choice {
	int level;  /* value of --log: enum log_level; valid only if --log was given */
	int format; /* index into log_formats */
};

extern const char *const log_levels[], *const log_formats[];

/* Rows of a command's option table. The command's struct has a struct log_choice at the offset
 * `at`. */
/* clang-format off */
#define LOG_OPTIONS(at)                                                                            \
	{ "log", 0, OPTION_CHOICE, (at) + offsetof(struct log_choice, level), NULL,                \
	  "log to standard error from this level on (default: $FUMEHOOD_LOG, or warn)",            \
	  .choices = log_levels },                                                                 \
	{ "log-format", 0, OPTION_CHOICE, (at) + offsetof(struct log_choice, format), NULL,        \
	  "log as lines for people, or as JSON lines", "text", log_formats }
/* clang-format on */

/* Gets the settings of the log from the options and $FUMEHOOD_LOG. `otherwise` is the default
 * level. -EINVAL: $FUMEHOOD_LOG has an unknown level. */
int log_options_read(const struct command_context *ctx, const struct log_choice *choice,
		enum log_level otherwise, struct log_options *out, struct fh_error *err);

#endif
