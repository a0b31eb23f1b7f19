/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fd.h"
#include "base/refusal.h"
#include "base/scope.h"
#include "guest/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * One sandbox from its plan: a clone of the nursery in new namespaces, which gets ids of its own from
 * its parent, mounts, and becomes PID 1.
 */

static int write_text(const char *path, const char *text)
{
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -errno;
	return 0;
}

int birth_map_ids(pid_t pid, struct fh_error *err)
{
	char path[64], map[64];
	int r;

	snprintf(map, sizeof(map), "0 %d %d", NURSERY_ID(0), GUEST_IDS);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	r = write_text(path, map);
	if (r == 0) {
		snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
		r = write_text(path, map);
	}
	return r < 0 ? error_set(err, -r, "map the sandbox's ids") : 0;
}

/* What a clone of the nursery knows and its sandbox must not. */
static void forget(struct nursery *n)
{
	binds_forget(n->binds);
	removals_forget(n->removals);
	ends_forget(n->ends);
	close_fd(&n->socket);
	close_fd(&n->trees.host);
	close_fd(&n->trees.own);
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
	return own_network ? network_make(err) : 0;
}

static int child_set_up(struct nursery *n, struct birth *b, int mapped, int *out_files,
		struct fh_error *err)
{
	int r = 0;
	char go;

	if (!b->in_cradle) {
		if (read(mapped, &go, 1) != 1)
			_exit(1); /* who was to map the ids was killed: the owner tries again */
		close(mapped);
		r = birth_become_root(err);
		if (r == 0)
			r = birth_surroundings(!(b->plan.flags & PLAN_NET_HOST), err);
	}
	if (r == 0 && setsid() < 0)
		r = error_set(err, errno, "make a session");
	return r < 0 ? r
		     : mounts_build(&(struct mounts_request){ .plan = &b->plan,
						    .bind_numbers = b->slots,
						    .disk_number = b->disk,
						    .can = n->can },
				       out_files, err);
}

/*
 * PID 1 has changed its ids, so that only who has rights over the whole machine may look at it. The owner's user
 * must: who joins its pid namespace can end a sandbox whose PID 1 hangs. An agent may not, for its ids differ, and
 * there is to be no dump.
 */
static int let_be_ended(struct fh_error *err)
{
	if (confine_dumps() < 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return error_set(err, errno, "let the sandbox be ended from outside");
	return 0;
}

_Noreturn static void child(struct nursery *n, struct birth *b, int mapped[2])
{
	struct init_start start = { .sockets = b->fds,
		.owner = n->owner,
		.mail = -1,
		.home = n->home,
		.n_home = b->moved_out ? n->n_home : 0,
		.plan = &b->plan,
		.moved_out = b->moved_out,
		.hooks = n->hooks };
	struct fh_error err = FH_ERROR_INIT;
	size_t at = PLAN_SOCKETS;
	int r;

	bool judged = b->plan.flags & PLAN_JUDGED;

	close_fd(&mapped[1]);
	forget(n);
	if (b->plan.flags & PLAN_SHELL)
		start.mail = b->fds[at++];
	start.confinement = (struct confinement){ .n_groups = b->plan.n_groups,
		.born_in_group = b->plan.flags & PLAN_BORN_IN_GROUP,
		.processes = b->plan.processes,
		.memory_bytes = b->plan.memory_bytes,
		.filter = judged ? n->hello.judged_filter : n->hello.agent_filter,
		.filter_bytes = judged ? n->hello.judged_filter_bytes
				       : n->hello.agent_filter_bytes };
	for (uint32_t i = 0; i < b->plan.n_groups; i++)
		start.confinement.groups[i] = b->fds[at++];
	r = child_set_up(n, b, mapped[0], &start.files, &err);
	if (r == 0)
		r = let_be_ended(&err);
	plan_forget_binds(&b->plan);
	explicit_bzero(b->message, b->message_bytes);
	if (r < 0) {
		guest_fail(b->fds[PLAN_CONTROL], INIT_FAILED, &err);
		_exit(1);
	}
	init_main(&start);
}

/* By clone3 itself: nothing of the C library's fork may run between here and PID 1. */
static pid_t clone_child(struct nursery *n, struct birth *b, uint64_t flags, int mapped[2],
		struct fh_error *err)
{
	struct clone_args args = { .flags = flags | CLONE_NEWNS | CLONE_NEWPID };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		child(n, b, mapped);
	if (pid >= 0)
		return pid;
	error_set(err, errno, "make namespaces");
	return error_see_doctor(err);
}

/* The child waits for a byte, or for the end of who was to write it. */
static pid_t clone_mapped(struct nursery *n, struct birth *b, int mapped[2], struct fh_error *err)
{
	pid_t pid = clone_child(n, b, CLONE_NEWUSER, mapped, err);
	int r;

	if (pid < 0)
		return pid;
	r = birth_map_ids(pid, err);
	if (r == 0 && write(mapped[1], "", 1) != 1)
		r = error_set(err, errno, "wake the sandbox");
	if (r < 0)
		kill(pid, SIGKILL);
	return r < 0 ? r : pid;
}

static pid_t clone_as_told(struct nursery *n, struct birth *b, struct fh_error *err)
{
	int mapped[2] = { -1, -1 };
	pid_t pid;

	if (b->in_cradle)
		return clone_child(n, b, CLONE_PARENT, mapped, err);
	if (pipe2(mapped, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	pid = clone_mapped(n, b, mapped, err);
	close(mapped[0]);
	close(mapped[1]);
	return pid;
}

pid_t birth_clone(struct nursery *n, struct birth *b, struct fh_error *err)
{
	pid_t pid = clone_as_told(n, b, err);

	if (pid > 0)
		ends_born(n->ends, b->plan.number, pid);
	return pid;
}

static int prepare_binds(struct nursery *n, struct birth *b, struct fh_error *err)
{
	for (uint32_t i = 0; i < b->plan.n_binds; i++) {
		const struct plan_bind *bind = &b->plan.binds[i];

		b->slots[i] = binds_slot(n->binds, &n->trees, bind->source,
				bind->device ? BIND_DEVICE : BIND_READ_ONLY, err);
		if (b->slots[i] < 0)
			return b->slots[i];
	}
	if (b->plan.disk_folder)
		b->disk = binds_slot(n->binds, &n->trees, b->plan.disk_folder, BIND_EPISODE, err);
	return b->plan.disk_folder && b->disk < 0 ? b->disk : 0;
}

/*
 * PID 1 has its children born in the group. The kernel lets it if it may write to cgroup.procs of that
 * one and of the one above, which holds all groups and the nursery.
 */
static int give_group(int group, struct fh_error *err)
{
	static const char *const files[] = { "cgroup.procs", "../cgroup.procs" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (fchownat(group, files[i], NURSERY_ID(0), (gid_t)-1, 0) < 0)
			return error_set(err, errno, "give a control group to the sandbox");
	return 0;
}

int birth_prepare(struct nursery *n, struct birth *b, struct fh_error *err)
{
	size_t need = PLAN_SOCKETS + (b->plan.flags & PLAN_SHELL ? 1 : 0) + b->plan.n_groups;

	if (b->n_fds != need)
		return error_say(err, EPROTO, "a plan with %zu descriptors instead of %zu",
				b->n_fds, need);
	if (b->plan.flags & PLAN_BORN_IN_GROUP && b->plan.n_groups == 1) {
		int r = give_group(b->fds[b->n_fds - 1], err);

		if (r < 0)
			return r;
	}
	return prepare_binds(n, b, err);
}
