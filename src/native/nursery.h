/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_NURSERY_H
#define NATIVE_NURSERY_H

#include "native/native.h"

/*
 * How an owner starts and ends its nursery. The caller holds the owner's lock `changing`, unless a
 * function says otherwise.
 */

/* Paths of this machine that every sandbox sees, NULL-terminated. */
extern const char *const listed_paths[];

/* Starts a nursery with all layers if none runs, and waits until it is ready. */
int nursery_need(struct native_owner *owner, struct fh_error *err);
/* Does the same as nursery_need(), but takes the mutex `changing` itself, for the call only. */
int nursery_ensure(struct native_owner *owner, struct fh_error *err);
/*
 * Closes the nursery's socket, so that the nursery ends after its sandboxes. Waits 2 s at most for
 * its end.
 */
void nursery_leave(struct native_owner *owner);

/*
 * Replaces the nursery by a new one, which makes the next sandbox. The old one runs on until its
 * sandboxes have ended.
 */
void nursery_retire(struct native_owner *owner);
/*
 * Waits for the end of replaced nurseries, 2 s at most for each. Call it when no sandbox is left.
 */
void nursery_await_retired(struct native_owner *owner);

/* Returns true if the nursery seems to run and to have room for a message. The caller holds
 * `lock`. */
bool nursery_is_ready(const struct native_owner *owner);

#endif
