/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_TYPED_H
#define MODEL_TYPED_H

#include "base/arena.h"

#include <stdbool.h>

/* Checks of a shell command that a person has typed. */

/* Returns true if bash needs more lines to complete a command. Examples are an open quote, `for`
 * without `done`, and a here-document without its end. `bash -n` decides, which parses the text and
 * runs nothing. False if there is no bash. */
bool typed_is_unfinished(const char *text);

/* Returns a sentence if a command starts a program that only works at a terminal, in the arena.
 * Examples are vim, less, and python3 without a script. NULL: it starts none. */
const char *typed_refusal(struct arena *a, const char *text);

#endif
