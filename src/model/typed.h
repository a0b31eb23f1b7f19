/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_TYPED_H
#define MODEL_TYPED_H

#include "base/arena.h"

#include <stdbool.h>

/* Checks of a command that a person has typed. */

/* True if bash needs more lines to complete the command. Examples are an open quote, `for` without
 * `done`, and a here-document without its end. Asks `bash -n`, which parses the text and runs
 * nothing. False without bash. */
bool typed_is_unfinished(const char *text);

/* Name of a full-screen program (like vim or less) that the command starts, in the arena. NULL:
 * none. */
const char *typed_full_screen(struct arena *a, const char *text);

#endif
