/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_ERRANDS_H
#define NATIVE_ERRANDS_H

#include "native/native.h"

/*
 * Plans and messages that the nursery can't take at once: a thread of the owner sends them later.
 * Functions lock `lock`, unless they say otherwise.
 */

/* Has the nursery remove the folder of an ended episode when it has time. */
void errand_remove(struct native_owner *owner, const char *folder);

/* Makes a sandbox later. Takes ownership of the ends. */
int errand_sandbox(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, struct sandbox_ends *ends,
		struct fh_error *err);

/* Drops the sandbox' errand. Call it before the sandbox is freed. */
void errand_drop(struct native_sandbox *sb);

/* Whether there is no errand; the caller holds `lock`. */
bool errands_none(const struct native_owner *owner);
/* Ends the thread; call it when no sandbox is left, without `lock`. */
void errands_finish(struct native_owner *owner);
void errands_forget(struct native_owner *owner); /* call it in a fork: drops all errands */

#endif
