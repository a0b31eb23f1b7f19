/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_CHROOT_H
#define CMD_CHROOT_H

#include <stdbool.h>

/*
 * True if this process is in a chroot, where the kernel refuses user namespaces. False without
 * /proc, or if all ancestors of the process are in the chroot too.
 */
bool chroot_here(void);

#endif
