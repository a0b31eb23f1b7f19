/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_CGROUP_KIND_H
#define SANDBOX_CGROUP_KIND_H

#include "base/error.h"
#include "sandbox/sandbox.h"

/*
 * The two kinds of control groups. v1 has a hierarchy per controller (a folder each in `folders`), v2
 * one for all. Each kind is one const struct at the end of its file.
 */
struct cgroup_tree {
	const struct cgroup_kind *kind;
	char *folders[4]; /* heap */
	size_t n;
};

struct cgroup_kind {
	bool slow_to_enter; /* moving a process into a group waits for the kernel: see guest/cradle.c */
	/* Finds folders that this process may make groups in; *out_why (heap) when there are none. */
	int (*find)(struct cgroup_tree *out, char **out_why);
	/* Once the owner's own folders are made. */
	int (*prepare)(const struct cgroup_tree *tree, struct fh_error *err);
	/* Sets limits and puts the peak back to nothing. */
	int (*limit)(const struct cgroup_tree *tree, const char *group,
			const struct sandbox_limits *limits, struct fh_error *err);
	int (*open_cpu)(const struct cgroup_tree *tree, const char *group);
	int (*open_memory)(const struct cgroup_tree *tree, const char *group);
	int64_t (*oom_kills)(const struct cgroup_tree *tree, const char *group);
};

extern const struct cgroup_kind cgroup_v1, cgroup_v2;

/* The first kind that works here. */
int cgroup_tree_find(struct cgroup_tree *out, char **out_why);
void cgroup_tree_release(struct cgroup_tree *tree);

/* Where a hierarchy is mounted and which group of it this process is in: heap path of that group's
 * folder. `controller` "" is v2. NULL if there is none. */
char *cgroup_own_folder(const char *controller);
/* The hierarchy's topmost folder that can be seen here. */
char *cgroup_top_folder(const char *controller);

int cgroup_write(const char *folder, const char *file, const char *text);
int cgroup_write_number(const char *folder, const char *file, int64_t n);
int64_t cgroup_read_number(int fd, const char *key);

#endif
