/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_COLLECT_H
#define NATIVE_CGROUP_COLLECT_H

/* Control groups that killed owners left behind. They are empty folders without a claim. */

/*
 * How the name of a pool's folder begins. The pool's label and the name of the process follow
 * (base/process.h).
 */
#define CGROUP_PREFIX "fumehood-"

/* Removes a pool's folder with the groups in it. Returns 0, also if it is gone, or -errno. */
int cgroup_remove_folder(const char *folder);
/* Removes the folders of killed owners that lie in `base`. Returns their number. */
int cgroup_collect_in(const char *base);
/*
 * Removes the folders of killed owners wherever they lie: their owners may have run in another
 * group than this process. Returns their number.
 */
int cgroups_collect(void);

#endif
