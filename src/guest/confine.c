/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/confine.h"

#include "base/refusal.h"
#include "base/scope.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Most pending signals and timers of the sandbox. The kernel counts them per user. Without this
 * limit, a sandbox could use up those that the owner's other programs need.
 */
#define SIGNALS_PENDING_MAX 1024

/*
 * Most open files of a process in a sandbox. The machine has a limit for all processes together,
 * which sandboxes must not use up.
 */
#define DESCRIPTORS_MAX 2048

/*
 * Limit of a core dump: 1 byte, too little for a file. A machine may pass dumps to a program that
 * the kernel starts outside and as root. Only a limit of exactly 1 prevents that: core(5).
 */
#define CORE_BYTES 1

int confine_drop_bounding(void)
{
	for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL)
			return -errno;
	return 0;
}

static int confine_limit(int resource, uint64_t most)
{
	struct rlimit now, wanted = { .rlim_cur = most, .rlim_max = most };

	if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
		return -errno;
	/* Keep a hard resource limit that is lower already: this process may not raise it. */
	if (now.rlim_max < wanted.rlim_max)
		wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &wanted) < 0 ? -errno : 0;
}

int confine_dumps(void)
{
	return confine_limit(RLIMIT_CORE, CORE_BYTES);
}

static int confine_set_limits(const struct confinement *c, struct fh_error *err)
{
	const struct {
		int resource;
		bool skip;
		uint64_t most;
	} limits[] = {
		{ RLIMIT_CORE, false, CORE_BYTES },
		{ RLIMIT_SIGPENDING, false, SIGNALS_PENDING_MAX },
		{ RLIMIT_NOFILE, false, DESCRIPTORS_MAX },
		/*
		 * Limit priorities to 0. The owner of the sandbox may have the right to raise its
		 * priority, but agents must not.
		 */
		{ RLIMIT_RTPRIO, false, 0 },
		{ RLIMIT_NICE, false, 0 },
		{ RLIMIT_NPROC, !c->processes, c->processes },
		{ RLIMIT_DATA, !c->memory_bytes, c->memory_bytes },
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		int r = limits[i].skip ? 0 : confine_limit(limits[i].resource, limits[i].most);

		if (r < 0)
			return error_set(err, -r, "set resource limits");
	}
	return 0;
}

/*
 * Forks by the system call clone3, which can put the child into a control group. The C library's
 * fork() does only one more thing in a process with one thread: it stores the child's pid.
 */
pid_t confine_fork(const struct confinement *c)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };

	if (!c->n_groups || !c->born_in_group)
		return fork();
	args.cgroup = (uint64_t)c->groups[0];
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/*
 * Sets the user and group ids of a program in a sandbox. As RUN_PACKER, the program can read only
 * the files that the agent can read. But its process belongs to the sandbox' root, so that the
 * agent can't signal or trace it.
 */
static int confine_become(uint8_t user, struct fh_error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	id_t id = user == RUN_AGENT ? GUEST_AGENT_ID : 0;

	if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		return error_set(err, errno, "become user %u", (unsigned)id);
	if (user == RUN_PACKER) {
		setfsgid(GUEST_AGENT_ID);
		setfsuid(GUEST_AGENT_ID);
		if (setfsgid((gid_t)-1) != GUEST_AGENT_ID || setfsuid((uid_t)-1) != GUEST_AGENT_ID)
			return error_set(err, EPERM, "read as user %u", GUEST_AGENT_ID);
	}
	if (syscall(SYS_capset, &header, none) < 0)
		return error_set(err, errno, "drop capabilities");
	return 0;
}

/* The kernel only reads a filter, but its struct sock_fprog lacks the const. */
struct sock_fprog confine_filter(const void *filter, uint32_t bytes)
{
	return (struct sock_fprog){
		.len = (unsigned short)(bytes / sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)(uintptr_t)filter,
	};
}

int confine(const struct confinement *c, uint8_t user, struct fh_error *err)
{
	struct sock_fprog program = confine_filter(c->filter, c->filter_bytes);
	int r;

	/*
	 * Enter the control group by writing "0" to its cgroup.procs. The owner opened the
	 * descriptor, so the owner's right to do so counts.
	 */
	for (uint32_t i = 0; i < c->n_groups && !c->born_in_group; i++)
		if (write(c->groups[i], "0", 1) != 1)
			return error_set(err, errno, "enter a control group");
	/*
	 * Make a new cgroup namespace. The groups of this process become its root, so groups above
	 * them have no name in it.
	 */
	if (unshare(CLONE_NEWCGROUP) < 0) {
		error_set(err, errno, "make a control group namespace");
		return error_see_doctor(err);
	}
	r = confine_set_limits(c, err);
	if (r < 0)
		return r;
	r = confine_become(user, err);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set(err, errno, "set no_new_privs");
	if (program.len && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return error_set(err, errno, "install the agent's seccomp filter");
	return 0;
}
