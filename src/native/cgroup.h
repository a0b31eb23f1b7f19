/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_H
#define NATIVE_CGROUP_H

#include "base/error.h"
#include "sandbox/sandbox.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * A pool of control groups, one per live sandbox, for limits and accounting. A group without
 * processes is used again if the kernel can reset its counters. Making a group costs more, and a
 * removed group stays in the kernel until its caches are gone.
 *
 * The helper is the process that sandboxes are cloned from. If no hierarchy allows groups for the
 * helper's children, there is no pool. Sandboxes then have resource limits only.
 */
struct cgroups;

#define CGROUP_PARTS 4

struct cgroup {
	struct cgroups *pool;
	char *name;              /* "ep12" */
	int parts[CGROUP_PARTS]; /* descriptors to enter the group by: cgroups_born_into() */
	size_t n_parts;          /* 0 after cgroup_sent() */
	int cpu_fd;              /* open file with the CPU counter; -1: none */
	/* Open file with the memory peak, if a descriptor can reset it; -1: none. */
	int memory_fd;
	struct sandbox_limits limits; /* limits that are set on the group now; valid if `known` */
	bool known;
	bool limited; /* cgroups_limit() was called since cgroups_take() */
	/* counters when the group was taken, from earlier sandboxes in it */
	int64_t cpu_base_ns;
	int64_t oom_base;
	struct cgroup *next;
};

/*
 * Opens a pool. Returns NULL if this machine allows no groups; *out_why (heap) has the reason. May
 * move the helper into another group.
 */
struct cgroups *cgroups_open(const char *label, pid_t helper, char **out_why);

/*
 * Makes a new process the pool's helper. Fails if the process can't have groups in the pool's
 * folders: open a new pool then.
 */
int cgroups_adopt(struct cgroups *pool, pid_t helper, struct fh_error *err);

/* Frees the pool after its last group was given back. NULL is fine. */
void cgroups_close(struct cgroups *pool);

/*
 * True: clone3 makes a process in the group, by a descriptor of the group's folder (v2). False: a
 * write to a descriptor of cgroup.procs moves a process into the group (v1).
 */
bool cgroups_born_into(const struct cgroups *pool);

/* Drops the pool's claims on its folders. Call it in a fork: the claims end with the process. */
void cgroups_forked(struct cgroups *pool);

/*
 * cgroups_take() gives a group without processes. Call cgroups_limit() before a process enters the
 * group. Setting limits that the group already has takes no time.
 */
int cgroups_take(struct cgroups *pool, struct cgroup **out, struct fh_error *err);
int cgroups_limit(struct cgroup *group, const struct sandbox_limits *limits, struct fh_error *err);

/* Returns the group to its pool. Processes in the group may still be ending. */
void cgroups_give(struct cgroup *group);

/*
 * Returns the number of descriptors in *out_fds, which the pool owns. They are cgroup.procs of this
 * process' own groups, for moving a process out of a sandbox' group. 0: no process has to be moved.
 */
size_t cgroups_home(const struct cgroups *pool, const int **out_fds);

/* Closes the group's `parts` once a guest has copies of these descriptors. */
void cgroup_sent(struct cgroup *group);

int64_t cgroup_cpu_ns(const struct cgroup *group);      /* CPU time used; -1: not known */
int64_t cgroup_memory_peak(const struct cgroup *group); /* bytes; -1: not known */
/* Processes killed for memory; -1: not known. */
int64_t cgroup_oom_kills(const struct cgroup *group);

/* Removes empty groups of owners that have ended. Returns the number of removed groups. */
int cgroups_collect(void);

#endif
