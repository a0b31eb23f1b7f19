/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_COMPLETE_H
#define CMD_COMPLETE_H

#include "cli/cmd.h"

/* Adds the candidates for the last of the words after "fumehood". */
void cmd_complete(struct buf *out, const char *const *words, size_t n);

extern const struct command command_help;

#endif
