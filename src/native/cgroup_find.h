/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_FIND_H
#define NATIVE_CGROUP_FIND_H

#include <sys/types.h>

/*
 * Returns the folder of a process' control group, as a heap path. pid 0 is this process.
 * `controller` is a controller of v1, or "" for v2. NULL if there is no such hierarchy.
 */
char *cgroup_folder_of(pid_t pid, const char *controller);
/*
 * Returns the topmost folder of a hierarchy that this process can see, as a heap path. `controller`
 * is a controller of v1, or "" for v2. NULL if there is no such hierarchy.
 */
char *cgroup_top_folder(const char *controller);

#endif
