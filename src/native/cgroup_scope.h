/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_SCOPE_H
#define NATIVE_CGROUP_SCOPE_H

#include <sys/types.h>

/*
 * Asks the systemd of this user (root: of the machine) for a scope, which is a control group of our
 * own, delegated to us: the process is moved into it, and it goes when the last process in it ends. This
 * process itself stays where it is: who it belongs to does not see it move, and a login session that
 * ends with it still running stays open for it.
 *
 * Blocks for a moment (some 10 ms), at most SCOPE_WAIT_MS. Nothing else comes of it when it fails:
 * *out_why (heap) says why.
 */
#define SCOPE_WAIT_MS 3000

int cgroup_scope_make(pid_t pid, char **out_why);

#endif
