/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_SECCOMP_H
#define NATIVE_SECCOMP_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Builds the seccomp programs (arrays of struct sock_filter) that the guest loads. The nursery and
 * all its sandboxes load `base`. An agent's programs load `agent` too. A judged program that
 * answers for an agent loads `judged`, which is stricter, instead of `agent`.
 */
int seccomp_build(struct buf *out_base, struct buf *out_agent, struct buf *out_judged,
		struct fh_error *err);

#endif
