/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SECCOMP_H
#define SANDBOX_SECCOMP_H

#include "base/buf.h"
#include "base/error.h"

/*
 * The two seccomp programs (arrays of struct sock_filter) that the guest loads: `base` for the nursery
 * and all that comes from it, `agent` besides for what runs an agent's commands.
 */
int seccomp_build(struct buf *out_base, struct buf *out_agent, struct fh_error *err);

#endif
