/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_SECCOMP_H
#define NATIVE_SECCOMP_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Builds the seccomp programs (arrays of struct sock_filter) that the guest loads. `base` is for
 * the nursery and all its sandboxes. `agent` comes on top for programs of an agent. `judged` takes
 * its place, stricter, for a program that answers for an agent while it is judged.
 */
int seccomp_build(struct buf *out_base, struct buf *out_agent, struct buf *out_judged,
		struct fh_error *err);

#endif
