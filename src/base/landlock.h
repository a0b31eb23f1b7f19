/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LANDLOCK_H
#define BASE_LANDLOCK_H

#include <stdbool.h>

/* Returns true if the kernel can keep a process from abstract unix sockets: Linux 6.12 with
 * Landlock. */
bool landlock_can_scope_sockets(void);

/*
 * Keeps this thread and its later children from abstract unix sockets that other processes made.
 * Needs no_new_privs, or CAP_SYS_ADMIN in the thread's user namespace. Does nothing if the kernel
 * can't. Returns 0 or -errno.
 */
int landlock_scope_sockets(void);

#endif
