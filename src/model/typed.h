/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_TYPED_H
#define MODEL_TYPED_H

#include "base/arena.h"

#include <stdbool.h>

/* What a person has typed as a command: whether there is more to come, and whether it can work in an episode. */

/* True if bash needs more lines: an open quote, `for` without `done`, a here-document without its end. Runs `bash -n`,
 * which reads the text and runs nothing of it; false if there is no bash. */
bool typed_is_unfinished(const char *text);

/* The name of a program in it that takes the whole screen (vim, less, top, ...), in the arena; NULL: none. */
const char *typed_full_screen(struct arena *a, const char *text);

#endif
