/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_ROLL_H
#define NATIVE_ROLL_H

#include "native/native.h"

/* An owner's list of closed sandboxes, in memory that its nursery reads. */

int roll_open(struct native_owner *owner, struct fh_error *err);
void roll_release(struct native_owner *owner);
/* Returns the number for a new sandbox. Any thread may call it. */
uint32_t roll_number(struct native_owner *owner);
/*
 * Marks the sandbox with this number as closed, in memory that the nursery reads. The nursery ends
 * the sandbox if its PID 1 does not. Any thread may call this.
 */
void roll_close(struct native_owner *owner, uint32_t number);

#endif
