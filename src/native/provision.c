/* SPDX-License-Identifier: Apache-2.0 */
#include "native/provision.h"

#include "base/scope.h"
#include "native/disk.h"
#include "native/nursery_talk.h"
#include "native/spares.h"

#include <errno.h>
#include <string.h>

/* Gives a sandbox its control group and its folder, and sends its plan to the nursery. */

void provision_close_ends(struct sandbox_ends *ends)
{
	for (size_t i = 0; i < PLAN_SOCKETS; i++)
		close_fd(&ends->sockets[i]);
	close_fd(&ends->mail);
}

/*
 * Returns the limit in bytes of a sandbox' files; 0: none. If the files are in memory, a quarter of
 * the memory limit stays free for the process that removes them.
 */
static int64_t provision_disk_bytes(const struct sandbox_limits *l)
{
	int64_t most = l->memory_bytes - l->memory_bytes / 4;

	if (l->disk_on == DISK_DISK || !l->memory_bytes)
		return l->disk_bytes;
	return l->disk_bytes && l->disk_bytes < most ? l->disk_bytes : most;
}

/*
 * Sets the sandbox' limits in its plan. A control group enforces them if there is one. Without
 * groups, setrlimit(2) limits each process, and the owner is warned. A bare sandbox has resource
 * limits only: entering a group can take as long as the rest of its start.
 */
static int provision_set_limits(struct native_sandbox *sb, const struct sandbox_limits *l,
		struct plan *plan, struct fh_error *err)
{
	int r;

	plan->disk_bytes = (uint64_t)provision_disk_bytes(l);
	plan->disk_files = (uint64_t)l->disk_files;
	if (l->disk_on == DISK_DISK && !sb->disk_folder) {
		r = disk_folder_new(sb->owner, l, &sb->disk_folder, &sb->disk_counted, err);
		if (r < 0)
			return r;
	}
	plan->disk_folder = sb->disk_folder;
	plan->n_groups = 0;
	if (sb->group) /* give back the control group of an earlier try, which failed */
		cgroups_give(take_ptr(sb->group));
	if (!(plan->flags & PLAN_BARE)) {
		r = spares_take(sb->owner, l, &sb->group, &plan->cradle, err);
		if (r < 0)
			return r;
		if (!sb->group && (l->memory_bytes || l->cpus > 0))
			atomic_store(&sb->owner->limits_missed, true);
	}
	if (sb->group) {
		plan->n_groups = (uint32_t)sb->group->n_parts;
		plan->flags |= cgroups_born_into(sb->group->pool) ? PLAN_BORN_IN_GROUP : 0;
	} else {
		plan->processes = (uint64_t)l->pids;
		plan->memory_bytes = (uint64_t)l->memory_bytes;
	}
	return 0;
}

int provision_send_plan(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, const struct sandbox_ends *ends,
		struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	int fds[PLAN_SOCKETS + 1 + CGROUP_PARTS];
	size_t n = PLAN_SOCKETS;
	struct plan limited = *plan;
	int r = provision_set_limits(sb, limits, &limited, err);

	if (r < 0)
		return r;
	memcpy(fds, ends->sockets, sizeof(ends->sockets));
	if (limited.flags & PLAN_SHELL)
		fds[n++] = ends->mail;
	for (uint32_t i = 0; i < limited.n_groups; i++)
		fds[n++] = sb->group->parts[i];
	plan_put(&b, &limited);
	atomic_store(&sb->provided, true);
	r = nursery_send_plan(sb->owner, &b, fds, n);
	if (sb->group)
		cgroup_sent(sb->group);
	return r < 0 ? error_set(err, -r, "send to the nursery") : 0;
}
