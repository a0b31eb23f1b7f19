/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/command.h"

/* Parts of help for terminals, Markdown and manual pages. */

/* Adds " VALUE" of an option, or its choices. Nothing for a flag. */
void help_add_value(struct buf *out, const struct cmd_option *o);

/* Adds "fumehood run [OPTIONS] ARGUMENTS". `path` is "run". */
void help_add_usage(struct buf *out, const struct command *c, const char *path);

/* Finds a command of a group by its name. NULL: there is none. */
const struct command *cmd_find(const struct command *group, const char *name);

/* Print the help of a command, `width` columns wide; of all commands as Markdown; as JSON. */
void cmd_help(struct buf *out, const struct command *command, const char *path, bool colours,
		int width);
void cmd_help_markdown(struct buf *out);
void cmd_help_json(struct buf *out);

#define CMD_HELP_BYTES (1024 * 1024)

/* Writes fumehood.1 and a manual page of each command into the folder. Makes the folder. */
int cmd_help_man(const char *folder, struct fh_error *err);

/* Shells, NULL-terminated, and the completion script of each. In completion.c. */
extern const char *const completion_shells[];
extern const char *const completion_programs[];

#endif
