/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/refusal.h"
#include "guest/guest.h"

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

/* Signals on their way, timers too. They count for the owner's user as well, and whatever he runs may have
 * only as many as a sandbox could take without this. */
#define SIGNALS_PENDING_MAX 1024

/* Of a process. The machine has a number of them for all: what the default of processes can hold should
 * leave others theirs. */
#define DESCRIPTORS_MAX 2048

/* For a dump in a file as little as none; and where it goes into a program, this number alone keeps the kernel
 * from starting that, outside and as root: core(5). */
#define CORE_BYTES 1

int confine_drop_bounding(void)
{
	for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL)
			return -errno;
	return 0;
}

static int limit(int resource, uint64_t most)
{
	struct rlimit now, wanted = { .rlim_cur = most, .rlim_max = most };

	if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
		return -errno;
	if (now.rlim_max < wanted.rlim_max) /* raising needs rights that we don't have */
		wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &wanted) < 0 ? -errno : 0;
}

int confine_dumps(void)
{
	return limit(RLIMIT_CORE, CORE_BYTES);
}

static int set_limits(const struct confinement *c, struct fh_error *err)
{
	static const struct {
		int resource;
		uint64_t most;
	} always[] = {
		{ RLIMIT_CORE, CORE_BYTES },
		{ RLIMIT_SIGPENDING, SIGNALS_PENDING_MAX },
		{ RLIMIT_NOFILE, DESCRIPTORS_MAX },
		/* What the owner may put before the rest of the machine, agents may not. */
		{ RLIMIT_RTPRIO, 0 },
		{ RLIMIT_NICE, 0 },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]) && r == 0; i++)
		r = limit(always[i].resource, always[i].most);
	if (r == 0 && c->processes)
		r = limit(RLIMIT_NPROC, c->processes);
	if (r == 0 && c->memory_bytes)
		r = limit(RLIMIT_DATA, c->memory_bytes);
	return r < 0 ? error_set(err, -r, "set resource limits") : 0;
}

/* "0" means the writer itself; the descriptor carries the owner's right to do so. */
static int enter_groups(const struct confinement *c, struct fh_error *err)
{
	for (uint32_t i = 0; i < c->n_groups && !c->born_in_group; i++)
		if (write(c->groups[i], "0", 1) != 1)
			return error_set(err, errno, "enter a control group");
	return 0;
}

/* As in birth.c by clone3 itself: in a process with one thread the C library's fork does no more than
 * note the child's number, which nobody asks it for. */
pid_t confine_fork(const struct confinement *c)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };

	if (!c->n_groups || !c->born_in_group)
		return fork();
	args.cgroup = (uint64_t)c->groups[0];
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* Root of the sandbox to whoever would signal or trace it, the agent to files. */
static int read_as_agent(struct fh_error *err)
{
	setfsgid(GUEST_AGENT_ID);
	setfsuid(GUEST_AGENT_ID);
	if (setfsgid((gid_t)-1) != GUEST_AGENT_ID || setfsuid((uid_t)-1) != GUEST_AGENT_ID)
		return error_set(err, EPERM, "read as user %u", GUEST_AGENT_ID);
	return 0;
}

static int become(uint8_t user, struct fh_error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	id_t id = user == RUN_AGENT ? GUEST_AGENT_ID : 0;

	if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		return error_set(err, errno, "become user %u", (unsigned)id);
	if (user == RUN_PACKER && read_as_agent(err) < 0)
		return err->code;
	if (syscall(SYS_capset, &header, none) < 0)
		return error_set(err, errno, "drop capabilities");
	return 0;
}

int confine(const struct confinement *c, uint8_t user, struct fh_error *err)
{
	struct sock_fprog program = { .len = (unsigned short)(c->filter_bytes /
						      sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)(uintptr_t)c->filter };
	int r;

	r = enter_groups(c, err);
	if (r < 0)
		return r;
	if (unshare(CLONE_NEWCGROUP) <
			0) { /* of which they are the root: nothing above has a name */
		error_set(err, errno, "make a control group namespace");
		return error_see_doctor(err);
	}
	r = set_limits(c, err);
	if (r < 0)
		return r;
	r = become(user, err);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set(err, errno, "set no_new_privs");
	if (program.len && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return error_set(err, errno, "install the agent's seccomp filter");
	return 0;
}
