/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/command.h"

/* Parts of help for terminals, Markdown and manual pages. */

/* Appends the " VALUE" of an option, or its choices. Appends nothing for a flag. */
void help_add_value(struct buf *out, const struct cmd_option *o);

/* Appends the usage line "fumehood run [OPTIONS] ARGUMENTS". `path` is the command's words,
 * "run". */
void help_add_usage(struct buf *out, const struct command *c, const char *path);

#define HELP_ABOUT_BYTES_MAX (16 << 10)

/* Appends what a command does: its summary as a sentence, then its paragraphs. */
void help_add_about(struct buf *out, const struct command *c);

/* Finds a command in a group by its name. NULL: there is none. */
const struct command *cmd_find(const struct command *group, const char *name);

/* cmd_help() appends the help of a command, `width` columns wide. cmd_help_markdown() appends the
 * help of all commands. cmd_help_json() appends the tables of a command and of the commands in
 * it. */
void cmd_help(struct buf *out, const struct command *command, const char *path, bool colours,
		int width);
void cmd_help_markdown(struct buf *out);
void cmd_help_json(struct buf *out, const struct command *command);

#define CMD_HELP_BYTES (1024 * 1024)

/* completion_shells: names of shells, NULL-terminated. completion_scripts: the completion script
 * of each (completion.c). */
extern const char *const completion_shells[];
extern const char *const completion_scripts[];

#endif
