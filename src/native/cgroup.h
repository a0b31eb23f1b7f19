/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_H
#define NATIVE_CGROUP_H

#include "base/error.h"
#include "sandbox/sandbox.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * A pool of control groups, one per live sandbox, for limits and accounting. An empty group is used
 * again if the kernel can reset its counters. Making one costs more, and a removed group stays in
 * the kernel until its caches are gone.
 *
 * The helper is the process that sandboxes are cloned from. If it can have groups in no hierarchy,
 * there is no pool, and sandboxes have resource limits only.
 */
struct cgroups;

#define CGROUP_PARTS 4

struct cgroup {
	struct cgroups *pool;
	char *name;                   /* "ep12" */
	int parts[CGROUP_PARTS];      /* how a process gets in: see cgroups_born_into() */
	size_t n_parts;               /* 0 after cgroup_sent() */
	int cpu_fd;                   /* counter kept open; -1: none */
	int memory_fd;                /* as well, where its peak starts anew by descriptor; -1 */
	struct sandbox_limits limits; /* the group's present ones, if `known` */
	bool known;
	bool limited; /* in this life */
	/* counted in the group's earlier lives */
	int64_t cpu_base_ns;
	int64_t oom_base;
	struct cgroup *next;
};

/* NULL where there are none; *out_why (heap) says why then. May move the helper between groups. */
struct cgroups *cgroups_open(const char *label, pid_t helper, char **out_why);

/* Another process takes the helper's place. Fails where the pool is not for it: open another. */
int cgroups_adopt(struct cgroups *pool, pid_t helper, struct fh_error *err);

/* Frees the pool once the last group is given back. NULL is fine. */
void cgroups_close(struct cgroups *pool);

/* How a process gets into a group. True: it is born there, by clone3 with the descriptor of its
 * folder (v2). False: it is moved, by writing to a descriptor of cgroup.procs (v1). */
bool cgroups_born_into(const struct cgroups *pool);

/* In a fork of its process, which must not prolong its life. */
void cgroups_forked(struct cgroups *pool);

/* A group without processes, ready to be sent. Call cgroups_limit() before its first use. The
 * same limits once more take no time. */
int cgroups_take(struct cgroups *pool, struct cgroup **out, struct fh_error *err);
int cgroups_limit(struct cgroup *group, const struct sandbox_limits *limits, struct fh_error *err);

/* Gives it back; processes in it may still be ending. */
void cgroups_give(struct cgroup *group);

/*
 * Descriptors of cgroup.procs of the groups that this process itself is in, for moving a process
 * back: how many. 0 where nobody has to be moved. The pool's.
 */
size_t cgroups_home(const struct cgroups *pool, const int **out_fds);

/* The guest has the descriptors of the parts; ours are closed. */
void cgroup_sent(struct cgroup *group);

int64_t cgroup_cpu_ns(const struct cgroup *group);      /* -1: not known */
int64_t cgroup_memory_peak(const struct cgroup *group); /* -1 */
int64_t cgroup_oom_kills(const struct cgroup *group);   /* -1 */

/* Removes empty groups of owners that are gone; how many. */
int cgroups_collect(void);

#endif
