/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_CONFIG_H
#define CMD_CONFIG_H

#include "base/arena.h"

/* Returns the names of the structs that `config docs` explains, NULL-terminated. They live in the
 * arena. */
const char *const *config_struct_names(struct arena *arena);

#endif
