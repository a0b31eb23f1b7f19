/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_H
#define NATIVE_CGROUP_H

#include "native/cgroup_kind.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * A pool of control groups, one per live sandbox, for limits and accounting. When a sandbox has
 * ended, its group is given to another if the kernel can reset the group's counters. A new group
 * would cost more. A removed group would stay in the kernel until its caches are gone.
 *
 * The helper is the process that sandboxes are cloned from. If no hierarchy allows groups for the
 * helper's children, there is no pool. Sandboxes then have resource limits only.
 */
struct cgroups;

#define CGROUP_PARTS 4

struct cgroup {
	struct cgroups *pool;
	char *name; /* name of the control group's folder, like "ep12" */
	/* descriptors to enter the control group by: cgroups_born_into() */
	int parts[CGROUP_PARTS];
	size_t n_parts; /* number of descriptors in `parts`; 0 once cgroup_sent() has closed them */
	int cpu_fd;     /* open file with the control group's CPU time; -1: none */
	/*
	 * Open file with the control group's memory peak, which is reset before another sandbox
	 * gets the group. -1: none, as with version 1 of control groups.
	 */
	int memory_fd;
	/* limits that are set on the control group now, if `known` is true */
	struct sandbox_limits limits;
	bool known;
	bool limited; /* cgroups_limit() was called for the group since cgroups_take() */
	/*
	 * CPU time and events of earlier sandboxes in the control group: they are subtracted
	 * from the kernel's counters
	 */
	int64_t cpu_base_ns;
	int64_t event_base[CGROUP_EVENTS];
	struct cgroup *next;
};

/*
 * Opens a pool of control groups. Returns NULL if this machine allows no groups; *out_why (heap)
 * has the reason. May move the helper, the process that clones sandboxes, into another group.
 */
struct cgroups *cgroups_open(const char *label, pid_t helper, char **out_why);

/*
 * Makes a new process the pool's helper, which clones sandboxes. Fails if the process can't have
 * control groups in the pool's folders: open a new pool then.
 */
int cgroups_adopt(struct cgroups *pool, pid_t helper, struct fh_error *err);

/* Frees the pool after its last control group was given back. NULL is fine. */
void cgroups_close(struct cgroups *pool);

/*
 * True: clone3 makes a process in the control group, by a descriptor of the group's folder (v2).
 * False: a write to a descriptor of cgroup.procs moves a process into the group (v1).
 */
bool cgroups_born_into(const struct cgroups *pool);

/* Drops the pool's file locks on its folders of control groups. Call it in a fork: the locks must
 * end with the parent. */
void cgroups_forked(struct cgroups *pool);

/*
 * cgroups_take() gives a control group without processes. cgroups_limit() sets the group's limits:
 * call it before a process enters the group. Equal limits are not set again.
 */
int cgroups_take(struct cgroups *pool, struct cgroup **out, struct fh_error *err);
int cgroups_limit(struct cgroup *group, const struct sandbox_limits *limits, struct fh_error *err);

/* Gives a control group back to its pool. Processes in it may still be ending. */
void cgroups_give(struct cgroup *group);

/* Gives a control group back from a job. It waits for the end of the group's processes first, and
 * drops the file pages that they have read. NULL: no thread could be started, so it drops
 * nothing. */
struct job *cgroups_give_traceless(struct cgroup *group);

/*
 * Starts a job that freezes what the agent runs in the sandbox, but not PID 1 and the porter.
 * cgroup_thaw() lets them go on: end the job before. Thaw before cgroups_give(). -EOPNOTSUPP: this
 * machine can't freeze.
 */
int cgroup_freeze(struct cgroup *group, struct job **out, struct fh_error *err);
void cgroup_thaw(const struct cgroup *group);

/*
 * Gives the descriptors that move PID 1 out of a sandbox' control groups. They are
 * cgroup.procs of this process' own groups, and the pool owns them. Returns their number. 0: no
 * process has to be moved.
 */
size_t cgroups_home(const struct cgroups *pool, const int **out_fds);

/* Closes the descriptors group->parts of a control group. Call it once another process has copies
 * of them. */
void cgroup_sent(struct cgroup *group);

/* CPU nanoseconds that the sandbox in the control group has used; -1: not known */
int64_t cgroup_cpu_ns(const struct cgroup *group);
/* most bytes of memory that the sandbox in the control group has used; -1: not known */
int64_t cgroup_memory_peak(const struct cgroup *group);
/* how often an event happened to the sandbox in the control group; -1: not known */
int64_t cgroup_count(const struct cgroup *group, enum cgroup_event event);

#endif
