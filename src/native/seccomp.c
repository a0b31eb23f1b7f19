/* SPDX-License-Identifier: Apache-2.0 */
#include "native/seccomp.h"

#include "base/fd.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * What is refused, not what is allowed: an agent's programs are arbitrary, and what they can reach is
 * bounded by namespaces and by having no capability. The filters take away the kernel's less travelled
 * parts, where holes are found, the ways to make new namespaces, and what is counted for a user and not for
 * a sandbox, so that one could use it up for all others, and for the owner.
 */

#define FILTER_BYTES_MAX 32768

/* mseal, of Linux 6.10. What is newer has not been thought about here; programs do without. From 424 on
 * numbers are the same on every machine; those of the x32 ABI are higher than any. */
#define LAST_KNOWN_CALL 462

/* Refused to everyone, the nursery too. ENOSYS where programs then try another way. */
static const struct {
	int call, error;
} base_refused[] = {
	{ SCMP_SYS(acct), EPERM },
	{ SCMP_SYS(add_key), EPERM },
	{ SCMP_SYS(adjtimex), EPERM },
	{ SCMP_SYS(bpf), EPERM },
	{ SCMP_SYS(clock_adjtime), EPERM },
	{ SCMP_SYS(clock_settime), EPERM },
	{ SCMP_SYS(delete_module), EPERM },
	{ SCMP_SYS(fanotify_init), EPERM },
	{ SCMP_SYS(finit_module), EPERM },
	{ SCMP_SYS(init_module), EPERM },
	{ SCMP_SYS(inotify_init), ENOSYS }, /* limited for a user; it shows who opens what */
	{ SCMP_SYS(inotify_init1), ENOSYS },
	{ SCMP_SYS(io_setup), ENOSYS }, /* limited for the whole machine */
	{ SCMP_SYS(io_uring_enter), ENOSYS },
	{ SCMP_SYS(io_uring_register), ENOSYS },
	{ SCMP_SYS(io_uring_setup), ENOSYS },
	{ SCMP_SYS(ioperm), EPERM },
	{ SCMP_SYS(iopl), EPERM },
	{ SCMP_SYS(kcmp), EPERM },
	{ SCMP_SYS(kexec_file_load), EPERM },
	{ SCMP_SYS(kexec_load), EPERM },
	{ SCMP_SYS(keyctl), EPERM },
	{ SCMP_SYS(lookup_dcookie), EPERM },
	{ SCMP_SYS(modify_ldt), ENOSYS },
	{ SCMP_SYS(mq_open), ENOSYS }, /* their bytes are limited for a user */
	{ SCMP_SYS(open_by_handle_at), EPERM },
	{ SCMP_SYS(perf_event_open), EPERM },
	{ SCMP_SYS(pidfd_getfd), EPERM },
	{ SCMP_SYS(process_madvise), EPERM },
	{ SCMP_SYS(process_vm_readv), EPERM },
	{ SCMP_SYS(process_vm_writev), EPERM },
	{ SCMP_SYS(ptrace), EPERM },
	{ SCMP_SYS(quotactl), EPERM },
	{ SCMP_SYS(quotactl_fd), EPERM },
	{ SCMP_SYS(reboot), EPERM },
	{ SCMP_SYS(remap_file_pages), ENOSYS }, /* see refuse_second_maps() */
	{ SCMP_SYS(request_key), EPERM },
	{ SCMP_SYS(settimeofday), EPERM },
	{ SCMP_SYS(swapoff), EPERM },
	{ SCMP_SYS(swapon), EPERM },
	{ SCMP_SYS(syslog), EPERM },
	{ SCMP_SYS(userfaultfd), EPERM },
	{ SCMP_SYS(vhangup), EPERM },
};

/* Refused to what runs an agent's commands: the nursery and PID 1 need them to build a sandbox. */
static const int agent_refused[] = {
	SCMP_SYS(chroot),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount),
	SCMP_SYS(fsopen),
	SCMP_SYS(fspick),
	SCMP_SYS(mount),
	SCMP_SYS(mount_setattr),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_tree),
	SCMP_SYS(pivot_root),
	SCMP_SYS(setns),
	SCMP_SYS(umount2),
	SCMP_SYS(unshare),
};

static const int namespace_flags[] = {
	CLONE_NEWCGROUP,
	CLONE_NEWIPC,
	CLONE_NEWNET,
	CLONE_NEWNS,
	CLONE_NEWPID,
	CLONE_NEWUSER,
	CLONE_NEWUTS,
};

/* Terminal input forged for whoever reads next; consoles. */
static const unsigned refused_ioctls[] = { TIOCSTI, TIOCLINUX, TIOCSETD };

/*
 * Refused sockets: by family, or by type or protocol of the IP families. What remains is unix, TCP, UDP,
 * ICMP, and netlink's routing (for lists of interfaces).
 */
static const struct {
	unsigned mask, family;
} refused_families[] = {
	{ ~0U, 3 },
	{ ~3U, 4 }, /* 4 to 7 */
	{ ~1U, 8 },
	{ ~0U, 11 },
	{ ~3U, 12 },
};

#define LAST_PLAIN_FAMILY AF_NETLINK /* after it: packets, virtual machines, crypto, ... */

#define TYPE_MASK 0xf

static const struct {
	unsigned mask, type;
	int error;
} refused_types[] = {
	{ TYPE_MASK, SOCK_RAW, EPERM },
	{ 0xc, 4, ESOCKTNOSUPPORT }, /* 4 to 7 */
	{ TYPE_MASK, SOCK_PACKET, ESOCKTNOSUPPORT },
};

static const struct {
	enum scmp_compare compare;
	int protocol;
} refused_protocols[] = {
	{ SCMP_CMP_EQ, IPPROTO_DCCP }, { SCMP_CMP_GT, IPPROTO_ICMPV6 }, /* SCTP, MPTCP, SMC, ... */
};

/* Huge pages are the machine's, and no group counts them. */
static const struct {
	int call;
	unsigned argument, flag;
} huge_pages[] = {
	{ SCMP_SYS(memfd_create), 1, MFD_HUGETLB },
	{ SCMP_SYS(mmap), 3, MAP_HUGETLB },
	{ SCMP_SYS(shmget), 2, SHM_HUGETLB },
};

static int refuse_ioctls(scmp_filter_ctx filter)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(refused_ioctls) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
				SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, refused_ioctls[i]));
	return r;
}

/* A lease would keep a grader from reading what is submitted; a notice, as those of inotify, shows who opens
 * what in a folder that others see, too. */
static const unsigned refused_fcntls[] = { F_SETLEASE, F_NOTIFY };

static int refuse_fcntls(scmp_filter_ctx filter)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(refused_fcntls) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fcntl), 1,
				SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, refused_fcntls[i]));
	return r;
}

static int refuse_families(scmp_filter_ctx filter)
{
	uint32_t refuse = SCMP_ACT_ERRNO(EAFNOSUPPORT);
	int r = seccomp_rule_add(filter, refuse, SCMP_SYS(socket), 1,
			SCMP_A0(SCMP_CMP_GT, LAST_PLAIN_FAMILY));

	for (size_t i = 0; i < ARRAY_SIZE(refused_families) && r == 0; i++)
		r = seccomp_rule_add(filter, refuse, SCMP_SYS(socket), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, refused_families[i].mask,
						refused_families[i].family));
	if (r == 0)
		r = seccomp_rule_add(filter, refuse, SCMP_SYS(socket), 2,
				SCMP_A0(SCMP_CMP_EQ, AF_NETLINK),
				SCMP_A2(SCMP_CMP_NE, NETLINK_ROUTE));
	if (r == 0) /* it makes sockets of every family, too */
		r = seccomp_rule_add(filter, refuse, SCMP_SYS(socketpair), 1,
				SCMP_A0(SCMP_CMP_NE, AF_UNIX));
	return r;
}

static int refuse_ip(scmp_filter_ctx filter, unsigned family)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(refused_types) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(refused_types[i].error),
				SCMP_SYS(socket), 2, SCMP_A0(SCMP_CMP_EQ, family),
				SCMP_A1(SCMP_CMP_MASKED_EQ, refused_types[i].mask,
						refused_types[i].type));
	for (size_t i = 0; i < ARRAY_SIZE(refused_protocols) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2,
				SCMP_A0(SCMP_CMP_EQ, family),
				SCMP_CMP(2, refused_protocols[i].compare,
						(unsigned)refused_protocols[i].protocol));
	return r;
}

static int refuse_locked_segments(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(shmctl), 1,
			SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, SHM_LOCK));
}

static int refuse_huge_pages(scmp_filter_ctx filter)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(huge_pages) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOMEM), huge_pages[i].call, 1,
				SCMP_CMP(huge_pages[i].argument, SCMP_CMP_MASKED_EQ,
						huge_pages[i].flag, huge_pages[i].flag));
	return r;
}

/*
 * A shell has the memory that it shares with its owner mapped, and no descriptor to map it again. With a thousand
 * maps of one page, the kernel would look through all of them to take that page away, and whoever unmaps it, the
 * owner too, would wait for the end of that.
 */
static int refuse_second_maps(scmp_filter_ctx filter)
{
	int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(mremap), 1,
			SCMP_A1(SCMP_CMP_EQ, 0)); /* from no bytes: a copy of a shared map */

	if (r == 0) /* it leaves a map of the same where it was */
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(mremap), 1,
				SCMP_A3(SCMP_CMP_MASKED_EQ, MREMAP_DONTUNMAP, MREMAP_DONTUNMAP));
	return r;
}

static int refuse_namespaces(scmp_filter_ctx filter)
{
	/* Its flags are behind a pointer: ENOSYS makes the C library use clone instead. */
	int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);

	for (size_t i = 0; i < ARRAY_SIZE(namespace_flags) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, (unsigned)namespace_flags[i],
						(unsigned)namespace_flags[i]));
	for (size_t i = 0; i < ARRAY_SIZE(agent_refused) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), agent_refused[i], 0);
	return r;
}

static int add_base(scmp_filter_ctx filter)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(base_refused) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(base_refused[i].error),
				base_refused[i].call, 0);
	if (r == 0)
		r = refuse_families(filter);
	if (r == 0)
		r = refuse_ip(filter, AF_INET);
	if (r == 0)
		r = refuse_ip(filter, AF_INET6);
	if (r == 0)
		r = refuse_ioctls(filter);
	if (r == 0)
		r = refuse_huge_pages(filter);
	if (r == 0) /* locked memory is limited for the owner's user, too */
		r = refuse_locked_segments(filter);
	return r;
}

/* What filters are compiled into is limited for the machine, no group counts it, and no sandbox can be made when
 * it is used up. Answers as a kernel that has none: programs then do without. */
static const unsigned filter_options[] = { SO_ATTACH_FILTER, SO_ATTACH_BPF,
	SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF };

static int refuse_filters(scmp_filter_ctx filter)
{
	int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(seccomp), 0);

	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, PR_SET_SECCOMP));
	for (size_t i = 0; i < ARRAY_SIZE(filter_options) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOPROTOOPT), SCMP_SYS(setsockopt), 2,
				SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, SOL_SOCKET),
				SCMP_A2(SCMP_CMP_MASKED_EQ, 0xffffffff, filter_options[i]));
	return r;
}

/* The limit is such that no dump is made, and no program of the machine's started to take one (core(5)). Whoever
 * sets it hears that it is set: the careful would not go on. */
static int keep_core_limit(scmp_filter_ctx filter)
{
	int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(setrlimit), 1,
			SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, RLIMIT_CORE));

	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(prlimit64), 2,
				SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, RLIMIT_CORE),
				SCMP_A2(SCMP_CMP_NE, 0));
	return r;
}

static int add_agent(scmp_filter_ctx filter)
{
	int r = refuse_namespaces(filter);

	if (r == 0)
		r = refuse_fcntls(filter);
	if (r == 0)
		r = refuse_second_maps(filter);
	if (r == 0)
		r = refuse_filters(filter);
	return r == 0 ? keep_core_limit(filter) : r;
}

/*
 * Refused to what answers for an agent while it is judged: whatever is common to all sandboxes and can be
 * written by one and read by another. It knows the judge's numbers, and who plays the same game after it, or at
 * the same time, must not: locks on files that all see, which of their pages are in memory, and counters of the
 * whole machine.
 */
static const struct {
	int call, error;
} judged_refused[] = {
	{ SCMP_SYS(fadvise64), ENOSYS },
	{ SCMP_SYS(flock), ENOLCK },
	{ SCMP_SYS(mincore), ENOSYS },
	{ SCMP_SYS(pidfd_open), ENOSYS }, /* its inode's number counts the machine's processes */
	{ SCMP_SYS(preadv2), ENOSYS },
	{ SCMP_SYS(pwritev2), ENOSYS },
	{ SCMP_SYS(readahead), ENOSYS },
	{ SCMP_SYS(sysinfo), ENOSYS },
};

static const unsigned judged_fcntls[] = { F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK,
	F_OFD_SETLKW };

/* They take pages of files that all have mapped out of memory, or into it. */
static const unsigned judged_advice[] = { MADV_WILLNEED, MADV_COLD, MADV_PAGEOUT,
	MADV_POPULATE_READ };

static int add_judged(scmp_filter_ctx filter)
{
	int r = add_agent(filter);

	for (size_t i = 0; i < ARRAY_SIZE(judged_refused) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(judged_refused[i].error),
				judged_refused[i].call, 0);
	for (size_t i = 0; i < ARRAY_SIZE(judged_fcntls) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOLCK), SCMP_SYS(fcntl), 1,
				SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, judged_fcntls[i]));
	for (size_t i = 0; i < ARRAY_SIZE(judged_advice) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(madvise), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, 0xffffffff, judged_advice[i]));
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(clone), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_PIDFD, CLONE_PIDFD));
	if (r == 0) /* a number of the machine's sockets */
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOPROTOOPT), SCMP_SYS(getsockopt), 2,
				SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, SOL_SOCKET),
				SCMP_A2(SCMP_CMP_MASKED_EQ, 0xffffffff, SO_COOKIE));
	return r;
}

/* What libseccomp has no rule for: any number above one. */
static void add_newer(struct buf *out)
{
	static const struct sock_filter newer[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN_CALL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};

	buf_add(out, newer, sizeof(newer));
}

static int export(scmp_filter_ctx filter, struct buf *out)
{
	auto_close int fd = memfd_create("filter", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = seccomp_export_bpf(filter, fd);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return fd_read_all(fd, out);
}

static int build(int (*add)(scmp_filter_ctx), struct buf *out, struct fh_error *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (!filter)
		return error_set(err, ENOMEM, "make a seccomp filter");
	buf_init(out, FILTER_BYTES_MAX);
	add_newer(out);
	/* A system call of another architecture (int 0x80) does not exist here. */
	r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	if (r == 0)
		r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree */
	if (r == 0)
		r = add(filter);
	if (r == 0)
		r = export(filter, out);
	seccomp_release(filter);
	if (r == 0 && out->truncated) /* the rest would be no filter, or another one */
		r = -ENOMEM;
	return r < 0 ? error_set(err, -r, "build a seccomp filter") : 0;
}

int seccomp_build(struct buf *out_base, struct buf *out_agent, struct buf *out_judged,
		struct fh_error *err)
{
	int r = build(add_base, out_base, err);

	if (r == 0)
		r = build(add_agent, out_agent, err);
	if (r == 0)
		r = build(add_judged, out_judged, err);
	return r;
}
