/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_NURSERY_H
#define NATIVE_NURSERY_H

#include "native/native.h"

/*
 * How an owner starts and ends its nursery. The caller holds `changing`, unless a function says
 * otherwise.
 */

/* Paths of this machine that every sandbox sees, NULL-terminated. */
extern const char *const listed_paths[];

/* Starts a nursery with all layers if none runs, and waits until it is ready. */
int nursery_need(struct native_owner *owner, struct fh_error *err);
/* As nursery_need(), but locks `changing` itself. */
int nursery_ensure(struct native_owner *owner, struct fh_error *err);
/* Closes the nursery, which ends after its sandboxes. Waits 2 s for that at most. */
void nursery_leave(struct native_owner *owner);

/*
 * Replaces the nursery: it runs until its sandboxes have ended. The next sandbox comes from a new
 * nursery.
 */
void nursery_retire(struct native_owner *owner);
/* Waits for retired nurseries; call it when no sandbox is left. */
void nursery_await_retired(struct native_owner *owner);

/* Whether the nursery seems to run and to have room for a message. The caller holds `lock`. */
bool nursery_is_ready(const struct native_owner *owner);

#endif
