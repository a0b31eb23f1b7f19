/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_FOLDERS_H
#define CMD_RUN_FOLDERS_H

#include "base/arena.h"
#include "base/str.h"

/* Returns the n places without those whose runs lie beneath another one anyway. Warns about each.
 * Links are resolved, so that a folder with two names counts once. A record that lies in one of the
 * folders gets its name there. */
struct texts run_folders_once(struct arena *a, const char *const *places, size_t n);

#endif
