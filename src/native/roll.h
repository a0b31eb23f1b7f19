/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_ROLL_H
#define NATIVE_ROLL_H

#include "native/native.h"

int roll_open(struct native_owner *owner, struct fh_error *err);
void roll_release(struct native_owner *owner);
uint32_t roll_number(struct native_owner *owner); /* number of a new sandbox; thread-safe */
/*
 * Marks the sandbox as closed, so that the nursery ends it if PID 1 does not. Any thread may call
 * it.
 */
void roll_close(struct native_owner *owner, uint32_t number);

#endif
