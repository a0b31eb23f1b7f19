/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_SCOPE_H
#define NATIVE_CGROUP_SCOPE_H

#include <sys/types.h>

/*
 * Asks the systemd of this user (root: of the machine) for a scope: a control group delegated to
 * us. The process is moved into it, and it goes when the last process in it ends.
 *
 * The calling process stays where it is. A login session that ends while it runs stays open for it.
 *
 * Blocks for a moment (some 10 ms), at most SCOPE_WAIT_MS. A failure changes nothing: *out_why
 * (heap) has the reason.
 */
#define SCOPE_WAIT_MS 3000

int cgroup_scope_make(pid_t pid, char **out_why);

#endif
