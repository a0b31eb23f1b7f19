/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cmd.h"

/* Shared by the three forms of help: terminal, Markdown, manual pages. */

/* " VALUE" of an option: its name, or the words to choose from; nothing for a flag. */
void help_add_value(struct buf *out, const struct cmd_option *o);

/* "fumehood run [OPTIONS] ARGUMENTS"; the path is "run". */
void help_add_usage(struct buf *out, const struct command *c, const char *path);

/* The command of a group by its name; NULL: there is none (cmd.c). */
const struct command *cmd_find(const struct command *group, const char *name);

/* Writes fumehood.1 and a manual page of each command into the folder, which is made if need be. */
int cmd_help_man(const char *folder, struct fh_error *err);

/* The shells, NULL-terminated, and the program by which each asks that (completion.c). */
extern const char *const completion_shells[];
extern const char *const completion_programs[];

#endif
