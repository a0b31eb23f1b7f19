/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_ERRANDS_H
#define NATIVE_ERRANDS_H

#include "native/native.h"

/*
 * Plans and messages that the nursery can't take at once: a thread of the owner sends them later.
 * Functions lock the owner's `lock` themselves, unless they say otherwise.
 */

/* Has the nursery remove the folder of an ended episode when it has time. */
void errand_remove(struct native_owner *owner, const char *folder);

/*
 * Has the thread that sends errands make a sandbox later. Takes ownership of the descriptors in
 * `ends`, unless it returns -EMSGSIZE.
 */
int errand_sandbox(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, struct sandbox_ends *ends,
		struct fh_error *err);

/* Drops the errand (delayed plan) that is to make this sandbox. Call it before the sandbox is
 * freed. */
void errand_drop(struct native_sandbox *sb);

/* Returns true if no message waits to be sent to the nursery later. The caller holds the owner's
 * `lock`. */
bool errands_none(const struct native_owner *owner);
/*
 * Waits until the thread that sends delayed messages has ended. Call it when no sandbox is left,
 * without holding `lock`.
 */
void errands_finish(struct native_owner *owner);
void errands_forget(struct native_owner *owner); /* drops all delayed messages; call it in a fork */

#endif
