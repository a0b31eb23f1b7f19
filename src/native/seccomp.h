/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_SECCOMP_H
#define NATIVE_SECCOMP_H

#include "base/buf.h"
#include "base/error.h"

/*
 * The seccomp programs (arrays of struct sock_filter) that the guest loads: `base` for the nursery and all that
 * comes from it; besides, `agent` for what runs an agent's commands, or `judged`, which is stricter, for what
 * answers for it while it is judged.
 */
int seccomp_build(struct buf *out_base, struct buf *out_agent, struct buf *out_judged,
		struct fh_error *err);

#endif
