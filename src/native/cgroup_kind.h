/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_KIND_H
#define NATIVE_CGROUP_KIND_H

#include "base/error.h"
#include "sandbox/sandbox.h"

/*
 * The two kinds of control groups. v1 has a hierarchy per controller (a folder each in `folders`),
 * v2 has a single one. Each kind is one const struct at the end of its file.
 *
 * The helper is the process that sandboxes are cloned from (the nursery). Groups must be where the
 * helper's children can get into them.
 */
struct cgroup_tree {
	const struct cgroup_kind *kind;
	char *folders[4]; /* heap */
	size_t n;
};

struct cgroup_kind {
	/* True: a process is born in a group, by a descriptor of its folder. False: it is moved,
	 * by a descriptor of cgroup.procs, which is slow: see guest/cradle.c. */
	bool born_into;
	/* Finds folders that groups can be made in; *out_why (heap) when there are none. The
	 * helper may be moved for it; 0: there is none. */
	int (*find)(pid_t helper, struct cgroup_tree *out, char **out_why);
	/* Once the folders are the pool's own ones, within those that were found. */
	int (*prepare)(const struct cgroup_tree *tree, struct fh_error *err);
	/* Puts a helper where it can get its children into the groups. */
	int (*adopt)(const struct cgroup_tree *tree, pid_t helper, struct fh_error *err);
	/* Sets only limits that differ from the group's present ones (NULL: not known). To set a
	 * share of CPU time the kernel walks through all groups. Resets the peak if there is no
	 * forget_peak. */
	int (*limit)(const struct cgroup_tree *tree, const char *group,
			const struct sandbox_limits *limits, const struct sandbox_limits *has,
			struct fh_error *err);
	int (*open_cpu)(const struct cgroup_tree *tree, const char *group);
	const char *cpu_key; /* the text before the number in that file */
	int64_t cpu_unit_ns;
	int (*open_memory)(const struct cgroup_tree *tree, const char *group);
	/* Puts the peak back to nothing, for a new life of the group; false where it can't be. */
	bool (*forget_peak)(int memory_fd);
	int64_t (*oom_kills)(const struct cgroup_tree *tree, const char *group);
	/* Whether what is counted for it is in use though no process is in it. NULL: soon it is
	 * not. */
	bool (*is_used)(const struct cgroup_tree *tree, const char *group);
};

extern const struct cgroup_kind cgroup_v1, cgroup_v2;

/* The first kind that works here. */
int cgroup_tree_find(pid_t helper, struct cgroup_tree *out, char **out_why);
void cgroup_tree_release(struct cgroup_tree *tree);

/* The folder (heap path) of the group that a process (0: this one) is in. `controller` "" is v2.
 * NULL if there is no such hierarchy. */
char *cgroup_folder_of(pid_t pid, const char *controller);
/* The hierarchy's topmost folder that can be seen here. */
char *cgroup_top_folder(const char *controller);

/* CPU time of a group in each period, not less than the kernel takes. */
#define CGROUP_CPU_PERIOD_US 100000
int64_t cgroup_cpu_quota_us(double cpus);

int cgroup_write(const char *folder, const char *file, const char *text);
int cgroup_write_number(const char *folder, const char *file, int64_t n);
int64_t cgroup_read_number(int fd, const char *key);

#endif
