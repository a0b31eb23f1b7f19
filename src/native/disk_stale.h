/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_DISK_STALE_H
#define NATIVE_DISK_STALE_H

#include "native/native.h"

/*
 * Has the nursery remove episodes' folders on the disk that ended owners left. Returns how many
 * owners' folders it found.
 */
int disk_stale_collect(struct native_owner *owner);
/* Calls disk_stale_collect() once for each owner, and does nothing at later calls. */
void disk_stale_collect_once(struct native_owner *owner);

#endif
