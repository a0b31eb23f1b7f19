/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CHROOT_H
#define NATIVE_CHROOT_H

#include <stdbool.h>

/*
 * True if this process is in a chroot, where the kernel refuses user namespaces. False without
 * /proc. False also if the chroot is a mount point and all ancestors of the process are in it.
 */
bool chroot_here(void);

#endif
