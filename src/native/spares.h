/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_SPARES_H
#define NATIVE_SPARES_H

#include "native/native.h"

/*
 * Takes a group for a sandbox, a spare one if there is any. *out is NULL on a machine without
 * groups. *out_cradle 0: no process waits in the group. Locks `lock`.
 */
int spares_take(struct native_owner *owner, const struct sandbox_limits *limits,
		struct cgroup **out, uint32_t *out_cradle, struct fh_error *err);
/* Makes spare groups: more of them if the owner has started many sandboxes. Locks `lock`. */
void spares_refill(struct native_owner *owner);
/* Returns the spare groups to their pool after the nursery has ended. The caller holds `lock`. */
void spares_drop(struct native_owner *owner);

#endif
