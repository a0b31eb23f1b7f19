/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "sandbox/cgroup_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Kernel documentation: admin-guide/cgroup-v2. A group with processes of its own can't give controllers
 * to its children. Root therefore makes its groups at the top; an ordinary user in a group that systemd
 * has delegated moves into a child of it first (systemd.io/CGROUP_DELEGATION).
 */

#define OWNER_GROUP "fumehood-owners"
#define NEEDED "+memory +pids +cpu"
#define CPU_PERIOD_US 100000

/* memory.peak can be put back from kernel 6.12 on, by writing to the descriptor that is read. */

static bool has_controllers(const char *folder)
{
	auto_free char *path = xasprintf("%s/cgroup.controllers", folder);
	auto_buf struct buf text = BUF_INIT(4096);

	return fd_read_file(path, &text, NULL) == 0 && strstr(buf_str(&text), "memory") &&
			strstr(buf_str(&text), "pids") && strstr(buf_str(&text), "cpu");
}

/* Every process of the group goes into one child, so that the group may have others with limits. */
static int move_down(const char *folder)
{
	auto_free char *child = xasprintf("%s/" OWNER_GROUP, folder);
	auto_free char *path = xasprintf("%s/cgroup.procs", folder);
	auto_buf struct buf pids = BUF_INIT(1 << 20);
	char *pid, *rest;

	if (mkdir(child, 0755) < 0 && errno != EEXIST)
		return -errno;
	if (fd_read_file(path, &pids, NULL) < 0)
		return -EIO;
	rest = pids.data;
	while ((pid = strsep(&rest, "\n")))
		if (*pid)
			cgroup_write(child, "cgroup.procs", pid);
	return 0;
}

/* An owner that was moved down already is in the child. */
static char *delegated_folder(void)
{
	char *folder = cgroup_own_folder("");
	char *end = folder ? strstr(folder, "/" OWNER_GROUP) : NULL;

	if (end)
		*end = '\0';
	return folder;
}

static int v2_find(struct cgroup_tree *out, char **out_why)
{
	auto_free char *folder = geteuid() == 0 ? cgroup_top_folder("") : delegated_folder();

	if (!folder || access(folder, W_OK) < 0) {
		*out_why = folder ? xasprintf("'%s' is not delegated to this user", folder)
				  : xstrdup("there is no v2 hierarchy");
		return -ENOENT;
	}
	if (!has_controllers(folder)) {
		*out_why = xasprintf("'%s' lacks the controllers memory, pids and cpu", folder);
		return -ENOENT;
	}
	if (cgroup_write(folder, "cgroup.subtree_control", NEEDED) < 0 &&
			(move_down(folder) < 0 ||
					cgroup_write(folder, "cgroup.subtree_control", NEEDED) <
							0)) {
		*out_why = xasprintf(
				"'%s' does not give its controllers to groups below it", folder);
		return -ENOENT;
	}
	*out = (struct cgroup_tree){ .kind = &cgroup_v2, .folders = { take_ptr(folder) }, .n = 1 };
	return 0;
}

static int v2_prepare(const struct cgroup_tree *tree, struct fh_error *err)
{
	int r = cgroup_write(tree->folders[0], "cgroup.subtree_control", NEEDED);

	return r < 0 ? error_set(err, -r, "switch controllers on in '%s'", tree->folders[0]) : 0;
}

static int set(const char *folder, const char *file, const char *value, struct fh_error *err)
{
	int r = cgroup_write(folder, file, value);

	return r < 0 ? error_set(err, -r, "set %s of control group '%s'", file, folder) : 0;
}

static int set_most(const char *folder, const char *file, int64_t most, struct fh_error *err)
{
	char text[32] = "max";

	if (most)
		snprintf(text, sizeof(text), "%lld", (long long)most);
	return set(folder, file, text, err);
}

static int v2_limit(const struct cgroup_tree *tree, const char *group,
		const struct sandbox_limits *l, struct fh_error *err)
{
	auto_free char *folder = xasprintf("%s/%s", tree->folders[0], group);
	char cpu[64] = "max";
	int r;

	if (l->cpus > 0)
		snprintf(cpu, sizeof(cpu), "%lld %d", (long long)(l->cpus * CPU_PERIOD_US),
				CPU_PERIOD_US);
	r = set_most(folder, "memory.max", l->memory_bytes, err);
	if (r == 0)
		r = set_most(folder, "pids.max", l->pids, err);
	if (r == 0)
		r = set(folder, "cpu.max", cpu, err);
	if (r == 0 && l->memory_bytes)
		cgroup_write(folder, "memory.swap.max", "0"); /* where there is swap at all */
	return r;
}

static int open_file(const struct cgroup_tree *tree, const char *group, const char *file, int flags)
{
	auto_free char *path = xasprintf("%s/%s/%s", tree->folders[0], group, file);

	return open(path, flags | O_CLOEXEC);
}

static int v2_open_cpu(const struct cgroup_tree *tree, const char *group)
{
	return open_file(tree, group, "cpu.stat", O_RDONLY);
}

static int v2_open_memory(const struct cgroup_tree *tree, const char *group)
{
	int fd = open_file(tree, group, "memory.peak", O_RDWR);

	if (fd >= 0 && write(fd, "0", 1) == 1)
		return fd;
	close_fd(&fd);
	return open_file(tree, group, "memory.peak", O_RDONLY);
}

static int64_t v2_oom_kills(const struct cgroup_tree *tree, const char *group)
{
	auto_close int fd = open_file(tree, group, "memory.events", O_RDONLY);

	return fd < 0 ? -1 : cgroup_read_number(fd, "oom_kill ");
}

const struct cgroup_kind cgroup_v2 = {
	.find = v2_find,
	.prepare = v2_prepare,
	.limit = v2_limit,
	.open_cpu = v2_open_cpu,
	.open_memory = v2_open_memory,
	.oom_kills = v2_oom_kills,
};
