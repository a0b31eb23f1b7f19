/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_PROVISION_H
#define NATIVE_PROVISION_H

#include "native/native.h"

/*
 * Takes a control group and a folder for the sandbox, and adds them to the plan. Then sends the
 * plan to the nursery, which must be ready. Locks the owner's `lock`. If the nursery was killed,
 * call it again.
 */
int provision_send_plan(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, const struct sandbox_ends *ends,
		struct fh_error *err);
/* Closes this process' copies of the descriptors for a new sandbox in `ends`, whether they were
 * sent or not. */
void provision_close_ends(struct sandbox_ends *ends);

#endif
