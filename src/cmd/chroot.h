/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_CHROOT_H
#define CMD_CHROOT_H

#include <stdbool.h>

/*
 * True if this process' root is not that of its mount namespace, where the kernel makes no user
 * namespaces. False if it can't be told: without /proc, or if nothing outside is an ancestor.
 */
bool chroot_here(void);

#endif
