/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/birth.h"

#include "base/refusal.h"
#include "base/scope.h"
#include "guest/ends.h"
#include "guest/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * Makes a sandbox from its plan. The nursery, the process that makes sandboxes, clones itself into
 * new namespaces. The clone's parent maps user and group ids for it. The clone then makes its
 * mounts and becomes the sandbox' PID 1.
 */

int birth_map_ids(pid_t pid, struct fh_error *err)
{
	static const char *const files[] = { "uid_map", "gid_map" };
	char path[64], map[64];
	int length = snprintf(map, sizeof(map), "0 %d %d", NURSERY_ID(0), GUEST_IDS);

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_close int fd = -1;

		snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, map, (size_t)length) < 0)
			return error_set(err, errno, "map the sandbox's ids");
	}
	return 0;
}

int birth_become_root(struct fh_error *err)
{
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return error_set(err, errno, "become root of the sandbox");
	return 0;
}

int birth_surroundings(bool own_network, struct fh_error *err)
{
	if (unshare(CLONE_NEWIPC | CLONE_NEWUTS) < 0) {
		error_set(err, errno, "make namespaces");
		return error_see_doctor(err);
	}
	if (sethostname("fumehood", 8) < 0)
		return error_set(err, errno, "set the host's name");
	if (confine_drop_bounding() < 0)
		return error_set(err, EPERM, "drop the bounding set");
	return own_network ? network_make(err) : network_share(err);
}

/*
 * Makes the namespaces and mounts of a clone, which becomes PID 1 of a sandbox. `mapped` is the
 * reading end of a pipe. The parent writes a byte to it when it has mapped the clone's user ids. A
 * clone of a cradle, a process made ahead, does not read it: a cradle's ids are mapped already.
 */
static int birth_set_up(const struct nursery *n, const struct birth *b, int mapped, int *out_files,
		struct fh_error *err)
{
	const struct mounts_request mounts = {
		.plan = &b->plan, .bind_numbers = b->slots, .disk_number = b->disk, .can = n->can
	};
	int r;
	char go;

	if (!b->in_cradle) {
		if (read(mapped, &go, 1) != 1)
			/* The pipe ended because the parent was killed. Exit; the owner makes the
			 * sandbox again. */
			_exit(1);
		r = birth_become_root(err);
		if (r < 0)
			return r;
		r = birth_surroundings(!(b->plan.flags & PLAN_NET_HOST), err);
		if (r < 0)
			return r;
	}
	if (setsid() < 0)
		return error_set(err, errno, "make a session");
	r = mounts_build(&mounts, out_files, err);
	if (r < 0)
		return r;
	/*
	 * This process, the sandbox' PID 1, has changed its ids. So by default only the machine's
	 * root may open its files in /proc. Allow the owner's user to open them: if PID 1 hangs,
	 * another process needs them to end the sandbox. An agent can't open them, since its ids
	 * differ. Forbid core dumps, which PR_SET_DUMPABLE would allow too.
	 */
	if (confine_dumps() < 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return error_set(err, errno, "let the sandbox be ended from outside");
	return 0;
}

/* Becomes PID 1 of a sandbox, in the clone. Wipes data of the parent process that the sandbox must
 * not see. */
_Noreturn static void birth_become_init(struct nursery *n, struct birth *b, int mapped)
{
	const struct plan *plan = &b->plan;
	bool judged = plan->flags & PLAN_JUDGED;
	struct init_start start = { .sockets = b->fds,
		.owner = n->owner,
		.mail = plan->flags & PLAN_SHELL ? b->fds[PLAN_SOCKETS] : -1,
		.home = n->home,
		.n_home = b->moved_out ? n->n_home : 0,
		.plan = plan,
		.confinement = { .n_groups = plan->n_groups,
				.born_in_group = plan->flags & PLAN_BORN_IN_GROUP,
				.processes = plan->processes,
				.memory_bytes = plan->memory_bytes,
				.filter = judged ? n->hello.judged_filter : n->hello.agent_filter,
				.filter_bytes = judged ? n->hello.judged_filter_bytes
						       : n->hello.agent_filter_bytes },
		.moved_out = b->moved_out,
		.hooks = n->hooks };
	struct fh_error err = FH_ERROR_INIT;
	int r;

	binds_forget(n->binds);
	removals_forget(n->removals);
	ends_forget(n->ends);
	close_fd(&n->socket);
	close_fd(&n->trees.host);
	close_fd(&n->trees.own);
	memcpy(start.confinement.groups, b->fds + PLAN_SOCKETS + (start.mail >= 0),
			plan->n_groups * sizeof(int));
	r = birth_set_up(n, b, mapped, &start.files, &err);
	plan_forget_binds(&b->plan);
	explicit_bzero(b->message, b->message_bytes);
	if (r < 0)
		guest_die(b->fds[PLAN_CONTROL], INIT_FAILED, &err);
	init_main(&start);
}

/* Maps the user and group ids of a cloned process. Then writes to the pipe at which the clone waits
 * for that. */
static int birth_wake_mapped(pid_t pid, int tell_mapped, struct fh_error *err)
{
	int r = birth_map_ids(pid, err);

	if (r < 0)
		return r;
	if (write(tell_mapped, "", 1) != 1)
		return error_set(err, errno, "wake the sandbox");
	return 0;
}

pid_t birth_clone(struct nursery *n, struct birth *b, struct fh_error *err)
{
	uint64_t flags = CLONE_NEWNS | CLONE_NEWPID | (b->in_cradle ? CLONE_PARENT : CLONE_NEWUSER);
	auto_close int mapped = -1, tell_mapped = -1;
	int pair[2], r;
	pid_t pid;

	if (!b->in_cradle) {
		if (pipe2(pair, O_CLOEXEC) < 0)
			return error_set(err, errno, "make a pipe");
		mapped = pair[0];
		tell_mapped = pair[1];
	}
	pid = guest_clone(flags);
	if (pid == 0) {
		/*
		 * Close the clone's copy of the pipe's writing end. Otherwise its read of the pipe
		 * would not end when the parent is killed.
		 */
		close_fd(&tell_mapped);
		birth_become_init(n, b, mapped);
	}
	if (pid < 0) {
		error_set(err, errno, "make namespaces");
		return error_see_doctor(err);
	}
	if (!b->in_cradle) {
		r = birth_wake_mapped(pid, tell_mapped, err);
		if (r < 0) {
			kill(pid, SIGKILL);
			return r;
		}
	}
	ends_born(n->ends, b->plan.number, pid);
	return pid;
}

int birth_prepare(struct nursery *n, struct birth *b, struct fh_error *err)
{
	static const char *const group_files[] = { "cgroup.procs", "../cgroup.procs" };
	const struct plan *plan = &b->plan;
	bool born_in_group = plan->flags & PLAN_BORN_IN_GROUP && plan->n_groups == 1;
	size_t need = PLAN_SOCKETS + (plan->flags & PLAN_SHELL ? 1 : 0) + plan->n_groups;
	int r;

	if (b->n_fds != need)
		return error_say(err, EPROTO, "the plan has %zu descriptors instead of %zu",
				b->n_fds, need);
	/*
	 * Let PID 1 put children into the sandbox' control group at their birth. For that it must
	 * be able to write to cgroup.procs of this group and of its parent group. The groups of all
	 * sandboxes and of the nursery lie in this parent group.
	 */
	for (size_t i = 0; born_in_group && i < ARRAY_SIZE(group_files); i++)
		if (fchownat(b->fds[b->n_fds - 1], group_files[i], NURSERY_ID(0), (gid_t)-1, 0) < 0)
			return error_set(err, errno, "give a control group to the sandbox");
	for (uint32_t i = 0; i < plan->n_binds; i++) {
		const struct plan_bind *bind = &plan->binds[i];

		r = binds_slot(n->binds, &n->trees, bind->source,
				bind->device ? BIND_DEVICE : BIND_READ_ONLY, err);
		if (r < 0)
			return r;
		b->slots[i] = r;
	}
	if (!plan->disk_folder)
		return 0;
	r = binds_slot(n->binds, &n->trees, plan->disk_folder, BIND_EPISODE, err);
	if (r < 0)
		return r;
	b->disk = r;
	return 0;
}
