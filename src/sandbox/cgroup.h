/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_CGROUP_H
#define SANDBOX_CGROUP_H

#include "base/error.h"
#include "sandbox/sandbox.h"

/*
 * A pool of control groups, one per live sandbox, for limits and accounting. Groups are used again
 * once they are empty: making one costs more, and a removed v1 group stays in the kernel until its
 * caches are gone.
 *
 * Where neither v1 hierarchies nor a delegated v2 group can be written there is no pool: `cgroups_open`
 * gives NULL and a sentence why, and sandboxes fall back to resource limits.
 */
struct cgroups;

#define CGROUP_PARTS 4

struct cgroup {
	char *name;              /* "ep12" */
	int procs[CGROUP_PARTS]; /* cgroup.procs, for writing; -1 after cgroup_sent() */
	size_t n_procs;
	int cpu_fd, memory_fd; /* counters kept open; -1: none */
	/* of the group's earlier lives */
	int64_t cpu_base_ns;
	int64_t oom_base;
	struct cgroup *next;
};

/* *out is NULL where there is none; *out_why (heap) says why then. */
int cgroups_open(const char *label, struct cgroups **out, char **out_why, struct fh_error *err);
void cgroups_close(struct cgroups *pool);

/* A group without processes, ready to be sent; cgroups_limit() comes before its first use. */
int cgroups_take(struct cgroups *pool, struct cgroup **out, struct fh_error *err);
int cgroups_limit(struct cgroups *pool, struct cgroup *group, const struct sandbox_limits *limits,
		struct fh_error *err);

/*
 * Descriptors of cgroup.procs of the groups that this process itself is in, for moving a process back:
 * how many. 0 where entering a group is cheap (v2). The pool's.
 */
size_t cgroups_home(const struct cgroups *pool, const int **out_fds);

/* Its processes may still be ending. */
void cgroups_give(struct cgroups *pool, struct cgroup *group);

/* The guest has the procs descriptors; ours are closed. */
void cgroup_sent(struct cgroup *group);

int64_t cgroup_cpu_ns(const struct cgroup *group);      /* -1: not known */
int64_t cgroup_memory_peak(const struct cgroup *group); /* -1 */
int64_t cgroup_oom_kills(const struct cgroups *pool, const struct cgroup *group); /* -1 */

/* Removes empty groups of owners that are gone; how many. */
int cgroups_collect(void);

#endif
