/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_FORK_H
#define NATIVE_FORK_H

#include "native/native.h"

/*
 * Registers an owner for forks. A child of fork() without exec closes its copies of the sockets of
 * registered owners and sandboxes. A multiprocessing worker is such a child. Open copies would keep
 * a sandbox alive.
 */
void fork_watch_owner(struct native_owner *owner);
void fork_unwatch_owner(struct native_owner *owner);
void fork_watch_sandbox(struct native_sandbox *sb);
void fork_unwatch_sandbox(struct native_sandbox *sb);

#endif
