/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_SCOPE_H
#define NATIVE_CGROUP_SCOPE_H

#include <sys/types.h>

#define SCOPE_WAIT_MS 3000

/*
 * Asks systemd for a scope: a control group in which this user may make others. Root asks the
 * machine's systemd, other users their own. systemd moves the process into the scope, and removes
 * the scope when its last process ends.
 *
 * The calling process stays in its own group. A login session that ends does not end processes in
 * the scope.
 *
 * Blocks for some 10 ms, at most SCOPE_WAIT_MS. A failure changes nothing: *out_why (heap) has the
 * reason.
 */
int cgroup_scope_make(pid_t pid, char **out_why);

#endif
