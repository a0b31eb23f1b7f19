/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_MACHINE_H
#define FAULT_MACHINE_H

#include <stdint.h>

/* What a fault may leave of a test's owners on this machine: nothing. */

#define GONE_MS 20000 /* by when that has to be so */

/* From now on whatever loses its parent beneath this process becomes its child, and can't hide. */
void machine_watch(void);

/* Waits until this process has no child, and reaps them; how long it took, -1 if some are left
 * (which are killed then). With the processes end all mounts that they saw, and no group has members. */
int64_t machine_wait_until_gone(void);

int machine_open_fds(void);

/* Empties a folder. */
void machine_remove_in(const char *folder);

#endif
