/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_MACHINE_H
#define FAULT_MACHINE_H

#include <stdint.h>

/* Finds processes that a test's owners left on this machine. */

#define GONE_MS 20000 /* milliseconds after which no process may be left */

/* Makes orphaned descendants children of this process from now on, so that it can find and reap
 * them. */
void machine_watch(void);

/* Reaps children until none is left. Returns how many milliseconds that took. After GONE_MS it
 * kills the rest and returns -1. */
int64_t machine_wait_until_gone(void);

int machine_open_fds(void);

/* Empties a folder. */
void machine_remove_in(const char *folder);

#endif
