/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "native/cgroup_file.h"
#include "native/cgroup_find.h"
#include "native/cgroup_kind.h"
#include "native/cgroup_scope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/*
 * Control groups v2. Kernel documentation: admin-guide/cgroup-v2. A group that has processes can't
 * give controllers to its children. So the helper has a group beside the groups of the sandboxes:
 *
 *   <place>/fumehood-<label>-<pid>-<start time>/nursery, ep0, ep1, ...
 *
 * <place> is the first of these groups that exists. First, this process' own group, if it was
 * delegated to us. Second, a scope that systemd makes for the helper. Third, for root, the top of
 * the hierarchy. See systemd.io/CGROUP_DELEGATION.
 */

#define HELPER_GROUP "nursery"
/* name of the child group into which all processes of a delegated control group are moved */
#define OWNER_GROUP "fumehood-owners"
#define NEEDED "+memory +pids +cpu"

static bool v2_has_controllers(const char *folder)
{
	static const char *const needed[] = { " memory ", " pids ", " cpu " };
	auto_free char *path = xasprintf("%s/cgroup.controllers", folder);
	auto_buf struct buf text = BUF_INIT(4096);
	auto_free char *padded = NULL;

	if (fd_read_file(path, &text, NULL) < 0)
		return false;
	padded = xasprintf(" %.*s ", (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!strstr(padded, needed[i]))
			return false;
	return true;
}

/*
 * Returns the folder of this process' control group. If v2_move_down() has moved this process into
 * the child OWNER_GROUP, returns the folder above OWNER_GROUP.
 */
static char *v2_own_folder(void)
{
	char *folder = cgroup_folder_of(0, "");
	char *end = folder ? strstr(folder, "/" OWNER_GROUP) : NULL;

	if (end)
		*end = '\0';
	return folder;
}

/*
 * Find out whether a control group was delegated. Root may write to every group, so write access
 * proves nothing. For root, look for the attribute that systemd sets on delegated groups.
 */
static bool v2_is_delegated(const char *folder)
{
	char mark;

	return access(folder, W_OK) == 0 && v2_has_controllers(folder) &&
			(geteuid() != 0 || getxattr(folder, "user.delegate", &mark, 1) == 1);
}

static char *v2_find_place(pid_t helper, char **out_why)
{
	auto_free char *own = v2_own_folder();
	auto_free char *top = cgroup_top_folder("");

	if (!own || !top) {
		*out_why = xstrdup("there is no v2 hierarchy");
		return NULL;
	}
	if (!v2_has_controllers(top)) {
		*out_why = xasprintf("'%s' lacks the controllers memory, pids and cpu", top);
		return NULL;
	}
	if (v2_is_delegated(own))
		return take_ptr(own);
	if (helper && cgroup_scope_make(helper, out_why) == 0)
		return cgroup_folder_of(helper, "");
	if (geteuid() == 0 && access(top, W_OK) == 0)
		return take_ptr(top);
	return NULL;
}

static int v2_find(pid_t helper, struct cgroup_tree *out, char **out_why)
{
	auto_free char *why = NULL;
	char *folder = v2_find_place(helper, &why);

	if (!folder) {
		*out_why = why ? take_ptr(why) : xstrdup("no v2 group was delegated to us");
		return -ENOENT;
	}
	*out = (struct cgroup_tree){
		.kind = &cgroup_v2, .folders = { folder }, .n = 1, .n_all = 1, .freezes = true
	};
	return 0;
}

/*
 * Moves all processes of a control group into one child group. Only a group without processes may
 * give controllers to its children.
 */
static int v2_move_down(const char *folder)
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

static int v2_give_controllers(const char *folder, struct fh_error *err)
{
	int r = cgroup_write(folder, "cgroup.subtree_control", NEEDED);

	if (r == -EBUSY && v2_move_down(folder) == 0)
		r = cgroup_write(folder, "cgroup.subtree_control", NEEDED);
	return r < 0 ? error_set(err, -r, "enable controllers in '%s'", folder) : 0;
}

static int v2_adopt(const struct cgroup_tree *tree, pid_t helper, struct fh_error *err)
{
	auto_free char *folder = xasprintf("%s/" HELPER_GROUP, tree->folders[0]);
	int r;

	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return error_set(err, errno, "make control group '%s'", folder);
	r = cgroup_write_number(folder, "cgroup.procs", helper);
	return r < 0 ? error_set(err, -r, "move a process to '%s'", folder) : 0;
}

static int v2_prepare(const struct cgroup_tree *tree, struct fh_error *err)
{
	auto_free char *place = path_dirname(tree->folders[0]);
	int r = v2_give_controllers(place, err);

	return r < 0 ? r : v2_give_controllers(tree->folders[0], err);
}

static int v2_set(const char *folder, const char *file, const char *value, struct fh_error *err)
{
	int r = cgroup_write(folder, file, value);

	return r < 0 ? error_set(err, -r, "set %s of control group '%s'", file, folder) : 0;
}

static int v2_set_most(const char *folder, const char *file, int64_t most, struct fh_error *err)
{
	char text[32] = "max";

	if (most)
		snprintf(text, sizeof(text), "%lld", (long long)most);
	return v2_set(folder, file, text, err);
}

static int v2_limit(const struct cgroup_tree *tree, const char *group,
		const struct sandbox_limits *l, const struct sandbox_limits *has,
		struct fh_error *err)
{
	auto_free char *folder = xasprintf("%s/%s", tree->folders[0], group);
	char cpu[64] = "max";
	int r;

	if (!has || has->memory_bytes != l->memory_bytes) {
		r = v2_set_most(folder, "memory.max", l->memory_bytes, err);
		if (r < 0)
			return r;
		/* Ignore a failure to limit swap: a machine without swap needs no limit. */
		cgroup_write(folder, "memory.swap.max", l->memory_bytes ? "0" : "max");
	}
	if (!has || has->pids != l->pids) {
		r = v2_set_most(folder, "pids.max", l->pids, err);
		if (r < 0)
			return r;
	}
	if (has && has->cpus == l->cpus)
		return 0;
	if (l->cpus > 0)
		snprintf(cpu, sizeof(cpu), "%lld %d", (long long)cgroup_cpu_quota_us(l->cpus),
				CGROUP_CPU_PERIOD_US);
	return v2_set(folder, "cpu.max", cpu, err);
}

static int v2_open(const struct cgroup_tree *tree, const char *group, const char *file, int flags)
{
	auto_free char *path = xasprintf("%s/%s/%s", tree->folders[0], group, file);

	return open(path, flags | O_CLOEXEC);
}

static int v2_open_cpu(const struct cgroup_tree *tree, const char *group)
{
	return v2_open(tree, group, "cpu.stat", O_RDONLY);
}

static int v2_open_memory(const struct cgroup_tree *tree, const char *group)
{
	int fd = v2_open(tree, group, "memory.peak", O_RDWR);

	return fd >= 0 ? fd : v2_open(tree, group, "memory.peak", O_RDONLY);
}

/*
 * Resets a control group's memory peak. From kernel 6.12 on, a write resets it for readers of this
 * descriptor.
 */
static bool v2_forget_peak(int memory_fd)
{
	return pwrite(memory_fd, "0", 1, 0) == 1;
}

static int64_t v2_count(const struct cgroup_tree *tree, const char *group, enum cgroup_event event)
{
	bool oom = event == CGROUP_OOM_KILL;
	auto_close int fd = v2_open(tree, group, oom ? "memory.events" : "pids.events", O_RDONLY);

	return fd < 0 ? -1 : cgroup_read_number(fd, oom ? "oom_kill " : "max ");
}

static void v2_reclaim(const struct cgroup_tree *tree, const char *group)
{
	auto_free char *folder = xasprintf("%s/%s", tree->folders[0], group);
	auto_close int fd = v2_open(tree, group, "memory.current", O_RDONLY);
	int64_t bytes = fd < 0 ? -1 : cgroup_read_number(fd, "");

	if (bytes > 0)
		cgroup_write_number(folder, "memory.reclaim", bytes);
}

static int v2_freeze(const struct cgroup_tree *tree, const char *group, int64_t pids,
		struct fh_error *err)
{
	auto_free char *folder = xasprintf("%s/%s", tree->folders[0], group);

	return v2_set(folder, "cgroup.freeze", "1", err);
}

static void v2_thaw(const struct cgroup_tree *tree, const char *group)
{
	auto_free char *folder = xasprintf("%s/%s", tree->folders[0], group);

	cgroup_write(folder, "cgroup.freeze", "0");
}

const struct cgroup_kind cgroup_v2 = {
	.born_into = true,
	.find = v2_find,
	.prepare = v2_prepare,
	.adopt = v2_adopt,
	.limit = v2_limit,
	.open_cpu = v2_open_cpu,
	.cpu_key = "usage_usec ",
	.cpu_unit_ns = 1000,
	.open_memory = v2_open_memory,
	.forget_peak = v2_forget_peak,
	.count = v2_count,
	.reclaim = v2_reclaim,
	.freeze = v2_freeze,
	.thaw = v2_thaw,
};
