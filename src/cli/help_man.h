/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HELP_MAN_H
#define CLI_HELP_MAN_H

#include "base/error.h"

/* Writes manual pages into the folder: fumehood.1, and a page for each command. Makes the folder if
 * it is missing. */
int cmd_help_man(const char *folder, struct fh_error *err);

#endif
