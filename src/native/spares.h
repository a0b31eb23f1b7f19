/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_SPARES_H
#define NATIVE_SPARES_H

#include "native/native.h"

/*
 * Takes a control group for a sandbox, one that was made ahead if there is any. *out is NULL on a
 * machine without groups. *out_cradle is the number of the cradle made for this group; 0: none.
 * Locks the owner's `lock`.
 */
int spares_take(struct native_owner *owner, const struct sandbox_limits *limits,
		struct cgroup **out, uint32_t *out_cradle, struct fh_error *err);
/*
 * Makes control groups ahead for the next sandboxes, each with a cradle (waiting process) from the
 * nursery. Makes one group more than the owner has started sandboxes, SPARES_MAX at most. Locks the
 * owner's `lock`.
 */
void spares_refill(struct native_owner *owner);
/*
 * Gives the control groups made ahead back to their pool after the nursery has ended. The caller
 * holds the owner's `lock`.
 */
void spares_drop(struct native_owner *owner);

#endif
