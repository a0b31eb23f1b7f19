/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "native/cgroup_file.h"
#include "native/cgroup_find.h"
#include "native/cgroup_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Control groups v1. Kernel documentation: admin-guide/cgroup-v1. Each controller has a hierarchy;
 * several controllers may share one.
 */

enum { V1_MEMORY, V1_PIDS, V1_CPU, V1_CPUACCT, V1_CONTROLLERS };

static const char *const controllers[V1_CONTROLLERS] = { CGROUP_V1_CONTROLLERS };

#define NO_LIMIT (-1)
/* Socket memory may take an additional part of the memory limit: 1 / NETWORK_PART of it. */
#define NETWORK_PART 4
/* Highest limit of socket memory in bytes. It is low because all connections of the machine share
 * one pool. */
#define NETWORK_MOST (64 << 20)
/* most bytes of socket memory that a control group may still hold when another sandbox gets it */
#define NETWORK_LEFT (1 << 20)
/* most bytes of a list of a group's processes */
#define PROCESSES_BYTES (1 << 20)
#define STATUS_BYTES 8192 /* most bytes of /proc/PID/status */
/* most times to list a group's processes and move them */
#define FREEZE_PASSES 12

static int v1_find(pid_t helper, struct cgroup_tree *out, char **out_why)
{
	struct cgroup_tree tree = { .kind = &cgroup_v1 };
	auto_free char *frozen = NULL;

	for (size_t i = 0; i < V1_CONTROLLERS; i++) {
		char *folder = cgroup_folder_of(0, controllers[i]);

		if (!folder || access(folder, W_OK) < 0) {
			*out_why = folder ? xasprintf("'%s' can't be written", folder)
					  : xasprintf("there is no v1 hierarchy of '%s'",
							    controllers[i]);
			free(folder);
			cgroup_tree_release(&tree);
			return -ENOENT;
		}
		tree.folders[tree.n++] = folder;
		tree.n_all = tree.n;
	}
	frozen = cgroup_folder_of(0, "");
	tree.freezes = frozen && access(frozen, W_OK) == 0;
	if (tree.freezes)
		tree.folders[tree.n_all++] = take_ptr(frozen);
	*out = tree;
	return 0;
}

/*
 * The folders of a cgroup_tree are in the order of the controllers. A hierarchy that two
 * controllers share is listed twice, which does no harm.
 */
static char *v1_folder(const struct cgroup_tree *tree, int controller, const char *group)
{
	return xasprintf("%s/%s", tree->folders[controller], group);
}

static int v1_prepare(const struct cgroup_tree *tree, struct fh_error *err)
{
	return 0; /* nothing to prepare: v1 has no controllers to enable in child groups */
}

static int v1_adopt(const struct cgroup_tree *tree, pid_t helper, struct fh_error *err)
{
	return 0; /* nothing to move: with v1, this user's processes can enter any of its groups */
}

static int v1_set(const struct cgroup_tree *tree, int controller, const char *group,
		const char *file, int64_t value, struct fh_error *err)
{
	auto_free char *folder = v1_folder(tree, controller, group);
	int r = cgroup_write_number(folder, file, value);

	return r < 0 ? error_set(err, -r, "set %s of control group '%s'", file, folder) : 0;
}

static int v1_set_pids(const struct cgroup_tree *tree, const char *group, int64_t most,
		struct fh_error *err)
{
	auto_free char *folder = v1_folder(tree, V1_PIDS, group);
	int r;

	if (most)
		return v1_set(tree, V1_PIDS, group, "pids.max", most, err);
	r = cgroup_write(folder, "pids.max", "max");
	return r < 0 ? error_set(err, -r, "set pids.max of control group '%s'", folder) : 0;
}

/*
 * Limits the memory of IP sockets. Control groups v1 count it apart from other memory, and only if
 * it has a limit. v2 counts it as memory. If the kernel lacks the file for this limit, sets none.
 */
static int v1_set_network(const struct cgroup_tree *tree, const char *group, int64_t memory_bytes,
		struct fh_error *err)
{
	static const char file[] = "memory.kmem.tcp.limit_in_bytes";
	auto_free char *folder = v1_folder(tree, V1_MEMORY, group);
	int64_t part = memory_bytes / NETWORK_PART;
	int64_t most = part < NETWORK_MOST ? part : NETWORK_MOST;
	int r = cgroup_write_number(folder, file, memory_bytes ? most : NO_LIMIT);

	if (r < 0 && r != -ENOENT && r != -EOPNOTSUPP)
		return error_set(err, -r, "set %s of control group '%s'", file, folder);
	return 0;
}

static int v1_limit(const struct cgroup_tree *tree, const char *group,
		const struct sandbox_limits *l, const struct sandbox_limits *has,
		struct fh_error *err)
{
	int64_t quota = l->cpus > 0 ? cgroup_cpu_quota_us(l->cpus) : NO_LIMIT;
	int r;

	if (!has || has->memory_bytes != l->memory_bytes) {
		r = v1_set(tree, V1_MEMORY, group, "memory.limit_in_bytes",
				l->memory_bytes ? l->memory_bytes : NO_LIMIT, err);
		if (r < 0)
			return r;
		r = v1_set_network(tree, group, l->memory_bytes, err);
		if (r < 0)
			return r;
	}
	if (!has || has->pids != l->pids) {
		r = v1_set_pids(tree, group, l->pids, err);
		if (r < 0)
			return r;
	}
	if (!has || has->cpus != l->cpus) {
		r = v1_set(tree, V1_CPU, group, "cpu.cfs_quota_us", quota, err);
		if (r < 0)
			return r;
	}
	return v1_set(tree, V1_MEMORY, group, "memory.max_usage_in_bytes", 0, err);
}

static int v1_open(
		const struct cgroup_tree *tree, int controller, const char *group, const char *file)
{
	auto_free char *folder = v1_folder(tree, controller, group);
	auto_free char *path = xasprintf("%s/%s", folder, file);

	return open(path, O_RDONLY | O_CLOEXEC);
}

static int v1_open_cpu(const struct cgroup_tree *tree, const char *group)
{
	return v1_open(tree, V1_CPUACCT, group, "cpuacct.usage");
}

static int v1_open_memory(const struct cgroup_tree *tree, const char *group)
{
	return v1_open(tree, V1_MEMORY, group, "memory.max_usage_in_bytes");
}

/*
 * Returns true if a control group still has socket memory: connections may outlive their processes
 * by 2 s (guest/network.c).
 */
static bool v1_is_used(const struct cgroup_tree *tree, const char *group)
{
	auto_close int fd = v1_open(tree, V1_MEMORY, group, "memory.kmem.tcp.usage_in_bytes");

	return fd >= 0 && cgroup_read_number(fd, "") > NETWORK_LEFT;
}

static int64_t v1_count(const struct cgroup_tree *tree, const char *group, enum cgroup_event event)
{
	bool oom = event == CGROUP_OOM_KILL;
	auto_close int fd = v1_open(tree, oom ? V1_MEMORY : V1_PIDS, group,
			oom ? "memory.oom_control" : "pids.events");

	return fd < 0 ? -1 : cgroup_read_number(fd, oom ? "oom_kill " : "max ");
}

static void v1_reclaim(const struct cgroup_tree *tree, const char *group)
{
	auto_free char *folder = v1_folder(tree, V1_MEMORY, group);

	cgroup_write(folder, "memory.force_empty", "0");
}

/* --- freezing --------------------------------------------------------------------------------- */

static bool v1_has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = text; at; at = strchr(at, '\n'), at += at != NULL)
		if (strncmp(at, line, n) == 0 && at[n] == '\n')
			return true;
	return false;
}

/*
 * Returns false if a process in the group runs no code of the agent. PID 1, porter and cradle of a
 * new sandbox are there for a while (guest/cradle.c). They must not be frozen.
 */
static bool v1_is_confined(const char *pid)
{
	auto_free char *path = xasprintf("/proc/%s/status", pid);
	auto_buf struct buf status = BUF_INIT(STATUS_BYTES);

	return fd_read_file(path, &status, NULL) < 0 ||
			!strstr(buf_str(&status), "\nNoNewPrivs:\t0\n");
}

/*
 * Moves the processes of a group that are not yet in the frozen group of v2 there. Returns true if
 * there was none. A process may end before it is moved, and leave a child that was not listed.
 */
static bool v1_move_to(const char *frozen, const char *folder)
{
	auto_free char *from = xasprintf("%s/cgroup.procs", folder);
	auto_free char *to = xasprintf("%s/cgroup.procs", frozen);
	auto_buf struct buf moved = BUF_INIT(PROCESSES_BYTES);
	auto_buf struct buf pids = BUF_INIT(PROCESSES_BYTES);
	char *pid, *rest;
	bool none = true;

	if (fd_read_file(from, &pids, NULL) < 0 || fd_read_file(to, &moved, NULL) < 0)
		return false;
	rest = pids.data;
	while ((pid = strsep(&rest, "\n"))) {
		if (!*pid || v1_has_line(buf_str(&moved), pid) || !v1_is_confined(pid))
			continue;
		cgroup_write(frozen, "cgroup.procs", pid);
		none = false;
	}
	return none;
}

/*
 * Freezes by a group of v2, since v1's own freezer would keep SIGKILL from ending a process. The
 * processes are moved there one by one. A child is born where its parent is, so list them again
 * until all are there. In the last two passes forbid forks, because processes that fork without end
 * could stay ahead.
 */
static int v1_freeze(const struct cgroup_tree *tree, const char *group, int64_t pids,
		struct fh_error *err)
{
	auto_free char *folder = v1_folder(tree, V1_PIDS, group);
	auto_free char *frozen = xasprintf("%s/%s", tree->folders[tree->n], group);
	int r;

	if (mkdir(frozen, 0755) < 0 && errno != EEXIST)
		return error_set(err, errno, "make control group '%s'", frozen);
	r = cgroup_write(frozen, "cgroup.freeze", "1");
	if (r < 0)
		return error_set(err, -r, "freeze control group '%s'", frozen);
	for (int i = 0; i < FREEZE_PASSES; i++) {
		if (i == FREEZE_PASSES - 2)
			cgroup_write(folder, "pids.max", "0");
		if (v1_move_to(frozen, folder) && i < FREEZE_PASSES - 2)
			return 0;
	}
	return v1_set_pids(tree, group, pids, err);
}

static void v1_thaw(const struct cgroup_tree *tree, const char *group)
{
	auto_free char *frozen = xasprintf("%s/%s", tree->folders[tree->n], group);

	cgroup_write(frozen, "cgroup.freeze", "0");
}

const struct cgroup_kind cgroup_v1 = {
	.find = v1_find,
	.prepare = v1_prepare,
	.adopt = v1_adopt,
	.limit = v1_limit,
	.open_cpu = v1_open_cpu,
	.cpu_key = "",
	.cpu_unit_ns = 1,
	.open_memory = v1_open_memory,
	.count = v1_count,
	.is_used = v1_is_used,
	.reclaim = v1_reclaim,
	.freeze = v1_freeze,
	.thaw = v1_thaw,
};
