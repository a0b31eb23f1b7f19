/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_COMPLETE_H
#define CMD_COMPLETE_H

#include "cli/cmd.h"

/* Appends candidates for the last one of `words`, the words of a command line after "fumehood". */
void cmd_complete(struct buf *out, const char *const *words, size_t n);

#endif
