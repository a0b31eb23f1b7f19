/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_TYPED_H
#define MODEL_TYPED_H

#include "base/arena.h"

#include <stdbool.h>

/* Checks of a command that a person has typed. */

/* True if bash needs more lines: an open quote, `for` without `done`, a here-document without its
 * end. Asks `bash -n`, which parses the text without running it. False if there is no bash. */
bool typed_is_unfinished(const char *text);

/* The name of a full-screen program in the command (vim, less, top, ...), in the arena; NULL:
 * none. */
const char *typed_full_screen(struct arena *a, const char *text);

#endif
