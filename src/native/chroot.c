/* SPDX-License-Identifier: Apache-2.0 */
#include "native/chroot.h"

#include "base/fd.h"
#include "base/path.h"
#include "base/process.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Finds out whether this process is in a chroot, for which the kernel has no call. If the chroot is
 * an ordinary folder, /proc/self/mountinfo has no mount point "/". If it is a mount point, an
 * ancestor process outside the chroot sees the same mount at another path.
 */

#define MOUNTINFO_MAX (1 << 20)

struct mount {
	char id[32], where[256];
};

/* Finds the mount with the mount point `where`, or with this id if `where` is NULL. False if there
 * is none. */
static bool chroot_find_mount(
		const char *mountinfo, const char *where, const char *id, struct mount *out)
{
	auto_buf struct buf text = BUF_INIT(MOUNTINFO_MAX);
	char *rest, *line;
	bool found = false;

	if (fd_read_file(mountinfo, &text, NULL) < 0)
		return false;
	rest = text.data;
	while ((line = strsep(&rest, "\n"))) {
		struct mount m;

		if (sscanf(line, "%31s %*s %*s %*s %255s", m.id, m.where) != 2)
			continue;
		if (where ? !str_eq(m.where, where) : !str_eq(m.id, id))
			continue;
		*out = m; /* if two mounts have one mount point, the later hides the earlier */
		found = true;
	}
	return found;
}

static pid_t chroot_parent_of(pid_t pid)
{
	char stat[PROCESS_STAT_MAX];

	return process_read_stat(pid, stat) ? (pid_t)process_field(stat, PROCESS_PARENT) : 0;
}

bool chroot_here(void)
{
	struct mount own, seen;

	if (!path_exists("/proc/self/mountinfo"))
		return false;
	if (!chroot_find_mount("/proc/self/mountinfo", "/", NULL, &own))
		return true;
	for (pid_t pid = getppid(); pid > 0; pid = chroot_parent_of(pid)) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
		if (chroot_find_mount(path, NULL, own.id, &seen) && !str_eq(seen.where, "/"))
			return true;
	}
	return false;
}
