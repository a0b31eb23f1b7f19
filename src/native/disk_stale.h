/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_DISK_STALE_H
#define NATIVE_DISK_STALE_H

#include "native/native.h"

/*
 * Has the nursery remove folders of episodes whose owner has ended. Returns how many owners'
 * folders it found.
 */
int disk_stale_collect(struct native_owner *owner);
/* As disk_stale_collect(), but only at the first call. */
void disk_stale_collect_once(struct native_owner *owner);

#endif
