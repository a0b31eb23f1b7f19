/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_MACHINE_H
#define FAULT_MACHINE_H

#include <stdint.h>

/* Finds leftovers of a test's owners on this machine. */

#define GONE_MS 20000 /* time after which no process may be left */

/* Makes orphaned descendants children of this process from now on, so that it finds them all. */
void machine_watch(void);

/* Reaps children until none is left. Returns how many ms it took, or -1 if some are left after
 * GONE_MS; these are killed. Mounts of their namespaces end with the processes. */
int64_t machine_wait_until_gone(void);

int machine_open_fds(void);

/* Empties a folder. */
void machine_remove_in(const char *folder);

#endif
