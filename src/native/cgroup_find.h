/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_FIND_H
#define NATIVE_CGROUP_FIND_H

#include <sys/types.h>

/*
 * Returns the folder (heap path) of a process' control group; pid 0 is this process. `controller`
 * "" is v2. NULL if there is no such hierarchy.
 */
char *cgroup_folder_of(pid_t pid, const char *controller);
/* Returns the topmost folder of a controller's hierarchy that this process can see. */
char *cgroup_top_folder(const char *controller);

#endif
