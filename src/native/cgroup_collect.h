/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_COLLECT_H
#define NATIVE_CGROUP_COLLECT_H

/* Control groups that killed owners left behind: empty folders on which no process holds a file
 * lock. */

/*
 * Beginning of the name of each pool's folder of control groups. The pool's label and the name of
 * the process follow (base/process.h).
 */
#define CGROUP_PREFIX "fumehood-"

/* Removes a pool's folder with the control groups in it. Returns 0, also if it is gone, or
 * -errno. */
int cgroup_remove_folder(const char *folder);
/* Removes the control groups of killed owners that lie in the folder `base`. Returns their
 * number. */
int cgroup_collect_in(const char *base);
/*
 * Removes the control groups of killed owners wherever they lie. Their owners may have run in
 * another group than this process. Returns the number of groups.
 */
int cgroups_collect(void);

#endif
