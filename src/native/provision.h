/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_PROVISION_H
#define NATIVE_PROVISION_H

#include "native/native.h"

/*
 * Gets a group and a folder, completes the plan and sends it to the nursery, which must be ready.
 * Locks `lock`. May be called again if the nursery was lost.
 */
int provision_send_plan(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, const struct sandbox_ends *ends,
		struct fh_error *err);
/* Closes the descriptors that were not sent. */
void provision_close_ends(struct sandbox_ends *ends);

#endif
