/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_KIND_H
#define NATIVE_CGROUP_KIND_H

#include "base/error.h"
#include "sandbox/sandbox.h"

#include <stdlib.h>

/* The controllers of v1 that limit or count what a sandbox uses. */
#define CGROUP_V1_CONTROLLERS "memory", "pids", "cpu", "cpuacct"

/*
 * The two kinds of control groups. v1 has a hierarchy per controller, v2 has a single hierarchy.
 * Each kind is one const struct at the end of its file.
 *
 * The helper is the process that sandboxes are cloned from (the nursery). The groups must lie where
 * the helper's children can enter them.
 */
struct cgroup_tree {
	const struct cgroup_kind *kind;
	/* folders of the hierarchies, heap strings; v1: one per controller; v2: only one */
	char *folders[5];
	size_t n; /* number of folders whose groups a sandbox' processes enter at birth */
	/* Number of all folders. v1: folders[n] is in the hierarchy of v2, if there is one.
	 * freeze() moves processes there. */
	size_t n_all;
	bool freezes; /* processes can be frozen */
};

static inline void cgroup_tree_release(struct cgroup_tree *tree)
{
	for (size_t i = 0; i < tree->n_all; i++)
		free(tree->folders[i]);
	*tree = (struct cgroup_tree){ 0 };
}

/* Events that the kernel counts in a control group. */
enum cgroup_event {
	CGROUP_OOM_KILL,        /* a process was killed because there was no memory left */
	CGROUP_PROCESS_REFUSED, /* a process was not started because there are too many */
	CGROUP_EVENTS
};

struct cgroup_kind {
	/*
	 * True: a process is put into a control group at its birth (clone3), by a descriptor of the
	 * group's folder. False: a process is moved by a descriptor of cgroup.procs, which is slow:
	 * see guest/cradle.c.
	 */
	bool born_into;
	/*
	 * Finds folders in which control groups can be made. On failure *out_why (heap) has the
	 * reason. May move the helper, the process that clones sandboxes, into another group.
	 * helper 0: there is no helper.
	 */
	int (*find)(pid_t helper, struct cgroup_tree *out, char **out_why);
	/* Prepares the pool's own folders of control groups, which lie in the folders that find()
	 * gave. */
	int (*prepare)(const struct cgroup_tree *tree, struct fh_error *err);
	/* Moves the process that clones sandboxes to another control group, so that its children
	 * can enter the pool's groups. */
	int (*adopt)(const struct cgroup_tree *tree, pid_t helper, struct fh_error *err);
	/*
	 * Sets a control group's limits to `limits`. `has` are the group's present limits, or NULL
	 * if they are not known. Equal ones are not set again: for a CPU share the kernel walks
	 * through all groups. Resets the memory peak if forget_peak is NULL.
	 */
	int (*limit)(const struct cgroup_tree *tree, const char *group,
			const struct sandbox_limits *limits, const struct sandbox_limits *has,
			struct fh_error *err);
	int (*open_cpu)(const struct cgroup_tree *tree, const char *group);
	/* text before the number of the CPU time, in the file that open_cpu() opens */
	const char *cpu_key;
	int64_t cpu_unit_ns;
	int (*open_memory)(const struct cgroup_tree *tree, const char *group);
	/*
	 * Resets a control group's memory peak, so that another sandbox can use the group. False:
	 * it can't be reset. NULL: limit() resets it.
	 */
	bool (*forget_peak)(int memory_fd);
	/* returns how often an event happened in a control group; -1: not known */
	int64_t (*count)(
			const struct cgroup_tree *tree, const char *group, enum cgroup_event event);
	/*
	 * Returns true if the kernel still counts much socket memory for a group whose processes
	 * have ended. NULL: no check is needed.
	 */
	bool (*is_used)(const struct cgroup_tree *tree, const char *group);
	/* Frees the memory that the kernel still counts for a group without processes: file pages.
	 * Blocks meanwhile. */
	void (*reclaim)(const struct cgroup_tree *tree, const char *group);
	/*
	 * Freezes the processes of a group, whose limit of processes is `pids`. They stop when they
	 * next return from the kernel. SIGKILL still ends them. Blocks for milliseconds if there
	 * are many. thaw() does not block. Call neither unless the tree `freezes`.
	 */
	int (*freeze)(const struct cgroup_tree *tree, const char *group, int64_t pids,
			struct fh_error *err);
	void (*thaw)(const struct cgroup_tree *tree, const char *group);
};

extern const struct cgroup_kind cgroup_v1, cgroup_v2;

#endif
