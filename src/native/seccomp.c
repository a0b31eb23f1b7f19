/* SPDX-License-Identifier: Apache-2.0 */
#include "native/seccomp.h"

#include "base/fd.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/mempolicy.h>
#include <linux/mman.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <linux/wireless.h>
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
 * Lists of refused system calls. A list of allowed calls would break an agent's programs, which are
 * arbitrary. Namespaces and the lack of capabilities limit the reach of allowed calls.
 *
 * The filters refuse the kernel's less tested parts and new namespaces. They also refuse resources
 * that are counted per user. A sandbox could use them up for all others and for the owner.
 */

#define FILTER_BYTES_MAX 32768

/*
 * Number of mseal (Linux 6.10), the last system call that was reviewed. Newer ones are refused.
 * From 424 on, numbers are the same on every architecture. Those of the x32 ABI are higher than
 * any.
 */
#define LAST_KNOWN_CALL 462

/*
 * Rule to refuse a system call with the errno `error` if both conditions on its arguments hold. op
 * 0: no condition. The error is ENOSYS if programs then try another way.
 */
struct seccomp_rule {
	int call, error;
	unsigned argument, op;
	uint64_t a, b;
	unsigned argument2, op2;
	uint64_t a2, b2;
};

/*
 * Macros for conditions on argument n of a system call. HAS: the bits `flags` are set. INT: the
 * lower 32 bits have this value; the kernel ignores the upper half. MASKED: the bits of a mask have
 * this value. CMP: all 64 bits are compared.
 */
#define HAS(n, flags) n, SCMP_CMP_MASKED_EQ, flags, flags
#define INT(n, value) n, SCMP_CMP_MASKED_EQ, 0xffffffff, value
#define MASKED(n, mask, value) n, SCMP_CMP_MASKED_EQ, mask, value
#define CMP(n, op, value) n, SCMP_CMP_##op, value, 0

/*
 * Allowed sockets: unix, TCP, UDP, ICMP, and netlink's routing (for lists of interfaces). Other
 * sockets are refused by family, or by type or protocol of the IP families.
 */
/* Highest address family of sockets that is allowed. Families with higher numbers are for packets,
 * virtual machines, crypto, ... */
#define LAST_PLAIN_FAMILY AF_NETLINK
#define FAMILY(mask, value) SCMP_SYS(socket), EAFNOSUPPORT, MASKED(0, mask, value)
#define IP(family, error) SCMP_SYS(socket), error, CMP(0, EQ, family)
#define TYPE_MASK 0xf
#define NAMESPACE(flag) SCMP_SYS(clone), EPERM, HAS(0, flag)
#define OPTION(call, level, option) call, ENOPROTOOPT, INT(1, level), INT(2, option)
#define SOCKET_OPTION(call, option) OPTION(call, SOL_SOCKET, option)
#define INTERFACES(condition) SCMP_SYS(ioctl), EOPNOTSUPP, condition

/* System calls that are refused in all processes, the nursery too. */
static const struct seccomp_rule base_rules[] = {
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
	/* Refuse inotify: it is limited per user, and shows which files others open. */
	{ SCMP_SYS(inotify_init), ENOSYS },
	{ SCMP_SYS(inotify_init1), ENOSYS },
	/* refuse asynchronous I/O: its amount is limited for the whole machine */
	{ SCMP_SYS(io_setup), ENOSYS },
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
	{ SCMP_SYS(mq_open), ENOSYS }, /* refuse message queues: their bytes are limited per user */
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
	/* Refuse remap_file_pages, which can copy a shared mapping. agent_rules refuses copies by
	 * mremap. */
	{ SCMP_SYS(remap_file_pages), ENOSYS },
	{ SCMP_SYS(request_key), EPERM },
	{ SCMP_SYS(settimeofday), EPERM },
	{ SCMP_SYS(swapoff), EPERM },
	{ SCMP_SYS(swapon), EPERM },
	{ SCMP_SYS(syslog), EPERM },
	{ SCMP_SYS(userfaultfd), EPERM },
	{ SCMP_SYS(vhangup), EPERM },

	{ SCMP_SYS(socket), EAFNOSUPPORT, CMP(0, GT, LAST_PLAIN_FAMILY) },
	{ FAMILY(~0U, 3) },
	{ FAMILY(~3U, 4) }, /* refuse address families 4 to 7 */
	{ FAMILY(~1U, 8) },
	{ FAMILY(~0U, 11) },
	{ FAMILY(~3U, 12) },
	{ SCMP_SYS(socket), EAFNOSUPPORT, CMP(0, EQ, AF_NETLINK), CMP(2, NE, NETLINK_ROUTE) },
	{ SCMP_SYS(socketpair), EAFNOSUPPORT, CMP(0, NE, AF_UNIX) },
	{ IP(AF_INET, EPERM), MASKED(1, TYPE_MASK, SOCK_RAW) },
	{ IP(AF_INET, ESOCKTNOSUPPORT), MASKED(1, 0xc, 4) }, /* refuse socket types 4 to 7 */
	{ IP(AF_INET, ESOCKTNOSUPPORT), MASKED(1, TYPE_MASK, SOCK_PACKET) },
	{ IP(AF_INET, EPROTONOSUPPORT), CMP(2, EQ, IPPROTO_DCCP) },
	/* Refuse IPv4 sockets of protocols with higher numbers: SCTP, MPTCP, SMC, ... */
	{ IP(AF_INET, EPROTONOSUPPORT), CMP(2, GT, IPPROTO_ICMPV6) },
	{ IP(AF_INET6, EPERM), MASKED(1, TYPE_MASK, SOCK_RAW) },
	{ IP(AF_INET6, ESOCKTNOSUPPORT), MASKED(1, 0xc, 4) }, /* refuse socket types 4 to 7 */
	{ IP(AF_INET6, ESOCKTNOSUPPORT), MASKED(1, TYPE_MASK, SOCK_PACKET) },
	{ IP(AF_INET6, EPROTONOSUPPORT), CMP(2, EQ, IPPROTO_DCCP) },
	/* Refuse IPv6 sockets of protocols with higher numbers: SCTP, MPTCP, SMC, ... */
	{ IP(AF_INET6, EPROTONOSUPPORT), CMP(2, GT, IPPROTO_ICMPV6) },

	/* Refuse ioctls that forge terminal input for the next reader, or act on consoles. */
	{ SCMP_SYS(ioctl), EPERM, INT(1, TIOCSTI) },
	{ SCMP_SYS(ioctl), EPERM, INT(1, TIOCLINUX) },
	{ SCMP_SYS(ioctl), EPERM, INT(1, TIOCSETD) },

	/* Refuse huge pages: the machine has one pool of them, and no control group counts them. */
	{ SCMP_SYS(memfd_create), ENOMEM, HAS(1, MFD_HUGETLB) },
	{ SCMP_SYS(mmap), ENOMEM, HAS(3, MAP_HUGETLB) },
	{ SCMP_SYS(shmget), ENOMEM, HAS(2, SHM_HUGETLB) },

	/* Refuse locked memory: it is limited per user, and the sandbox' owner has the same
	 * user. */
	{ SCMP_SYS(shmctl), EPERM, INT(1, SHM_LOCK) },
};

/*
 * System calls that are refused only in processes that run an agent's code. The nursery and PID 1
 * need them to build a sandbox.
 */
static const struct seccomp_rule agent_rules[] = {
	/*
	 * Refuse clone3, which has its flags behind a pointer: no filter can read them. ENOSYS
	 * makes the C library use clone instead.
	 */
	{ SCMP_SYS(clone3), ENOSYS },
	{ NAMESPACE(CLONE_NEWCGROUP) },
	{ NAMESPACE(CLONE_NEWIPC) },
	{ NAMESPACE(CLONE_NEWNET) },
	{ NAMESPACE(CLONE_NEWNS) },
	{ NAMESPACE(CLONE_NEWPID) },
	{ NAMESPACE(CLONE_NEWUSER) },
	{ NAMESPACE(CLONE_NEWUTS) },
	{ SCMP_SYS(chroot), EPERM },
	{ SCMP_SYS(fsconfig), EPERM },
	{ SCMP_SYS(fsmount), EPERM },
	{ SCMP_SYS(fsopen), EPERM },
	{ SCMP_SYS(fspick), EPERM },
	{ SCMP_SYS(mount), EPERM },
	{ SCMP_SYS(mount_setattr), EPERM },
	{ SCMP_SYS(move_mount), EPERM },
	{ SCMP_SYS(open_tree), EPERM },
	{ SCMP_SYS(pivot_root), EPERM },
	{ SCMP_SYS(setns), EPERM },
	{ SCMP_SYS(umount2), EPERM },
	{ SCMP_SYS(unshare), EPERM },

	/*
	 * Refuse leases and notices. A lease on a file would keep a grader from reading the
	 * submission. A notice (F_NOTIFY) shows which files others open in a shared folder, as
	 * inotify does.
	 */
	{ SCMP_SYS(fcntl), EPERM, INT(1, F_SETLEASE) },
	{ SCMP_SYS(fcntl), EPERM, INT(1, F_NOTIFY) },

	/*
	 * A shell has memory mapped that it shares with its owner, and no descriptor to map it
	 * again. If an agent mapped a page a thousand times, freeing the page would be slow. The
	 * owner would wait when it unmaps the page. So refuse copies of mappings.
	 */
	/* mremap with an old size of 0 copies a shared mapping */
	{ SCMP_SYS(mremap), EINVAL, CMP(1, EQ, 0) },
	{ SCMP_SYS(mremap), EINVAL, HAS(3, MREMAP_DONTUNMAP) },

	/*
	 * Refuse calls that take the kernel's locks of pages. An agent could make such a call slow,
	 * by other programs with a higher priority (nice). The owner would wait for the pages that
	 * it shares with the shell, even after SIGKILL.
	 */
	{ SCMP_SYS(madvise), EINVAL, INT(2, MADV_COLLAPSE) },
	{ SCMP_SYS(mbind), EPERM, HAS(5, MPOL_MF_MOVE) },
	{ SCMP_SYS(migrate_pages), EPERM },
	{ SCMP_SYS(move_pages), EPERM },

	/*
	 * Refuse seccomp filters: their compiled code is limited for the machine, and no group
	 * counts it. If no room is left, no sandbox can be made. Programs cope with the error, as
	 * on a kernel without seccomp.
	 */
	{ SCMP_SYS(seccomp), ENOSYS },
	{ SCMP_SYS(prctl), EINVAL, INT(0, PR_SET_SECCOMP) },
	{ SOCKET_OPTION(SCMP_SYS(setsockopt), SO_ATTACH_FILTER) },
	{ SOCKET_OPTION(SCMP_SYS(setsockopt), SO_ATTACH_BPF) },
	{ SOCKET_OPTION(SCMP_SYS(setsockopt), SO_ATTACH_REUSEPORT_CBPF) },
	{ SOCKET_OPTION(SCMP_SYS(setsockopt), SO_ATTACH_REUSEPORT_EBPF) },

	/*
	 * Refuse calls that copy to or from the program's memory under the kernel's lock of all
	 * networks. An agent could make the copy wait for seconds, and with it all who make or
	 * remove a network. Joining multicast groups copies a few bytes so, and stays allowed.
	 */
	{ INTERFACES(INT(1, SIOCGIFCONF)) },
	{ INTERFACES(INT(1, SIOCETHTOOL)) },
	{ INTERFACES(INT(1, SIOCGIFBR)) },
	{ INTERFACES(INT(1, SIOCSIFBR)) },
	{ INTERFACES(INT(1, SIOCWANDEV)) },
	{ INTERFACES(INT(1, SIOCGIFVLAN)) },
	{ INTERFACES(INT(1, SIOCSIFVLAN)) },
	{ INTERFACES(INT(1, SIOCBONDSLAVEINFOQUERY)) },
	{ INTERFACES(INT(1, SIOCBONDINFOQUERY)) },
	{ INTERFACES(INT(1, SIOCGHWTSTAMP)) },
	/* ioctls of network bridges and tunnels */
	{ INTERFACES(MASKED(1, 0xfffffff0, SIOCDEVPRIVATE)) },
	{ INTERFACES(MASKED(1, 0xffffff00, SIOCIWFIRST)) }, /* wireless */
	{ OPTION(SCMP_SYS(getsockopt), IPPROTO_IP, IP_MSFILTER) },
	{ OPTION(SCMP_SYS(setsockopt), IPPROTO_IP, IP_MSFILTER) },
	{ OPTION(SCMP_SYS(getsockopt), IPPROTO_IP, MCAST_MSFILTER) },
	{ OPTION(SCMP_SYS(setsockopt), IPPROTO_IP, MCAST_MSFILTER) },
	{ OPTION(SCMP_SYS(getsockopt), IPPROTO_IPV6, MCAST_MSFILTER) },
	{ OPTION(SCMP_SYS(setsockopt), IPPROTO_IPV6, MCAST_MSFILTER) },

	/*
	 * Refuse changing RLIMIT_CORE, which stays 1 so that the machine starts no program to take
	 * a core dump (core(5)). The refused call returns 0, since careful programs would not go on
	 * after an error.
	 */
	{ SCMP_SYS(setrlimit), 0, INT(0, RLIMIT_CORE) },
	{ SCMP_SYS(prlimit64), 0, INT(1, RLIMIT_CORE), CMP(2, NE, 0) },
};

/*
 * Calls that are refused, besides agent_rules, in a program that answers a judge for an agent. The
 * program learns the judge's random numbers, which other players of the game must not know. So it
 * may not change anything that another sandbox can read. Other sandboxes can read file locks of
 * shared files, and counters of the whole machine. They can see which pages of shared files are in
 * memory.
 */
static const struct seccomp_rule judged_rules[] = {
	{ SCMP_SYS(fadvise64), ENOSYS },
	{ SCMP_SYS(flock), ENOLCK },
	{ SCMP_SYS(mincore), ENOSYS },
	/* Refuse pidfd_open: the inode number of a pidfd counts the machine's processes. */
	{ SCMP_SYS(pidfd_open), ENOSYS },
	{ SCMP_SYS(preadv2), ENOSYS },
	{ SCMP_SYS(pwritev2), ENOSYS },
	{ SCMP_SYS(readahead), ENOSYS },
	{ SCMP_SYS(sysinfo), ENOSYS },
	{ SCMP_SYS(fcntl), ENOLCK, INT(1, F_GETLK) },
	{ SCMP_SYS(fcntl), ENOLCK, INT(1, F_SETLK) },
	{ SCMP_SYS(fcntl), ENOLCK, INT(1, F_SETLKW) },
	{ SCMP_SYS(fcntl), ENOLCK, INT(1, F_OFD_GETLK) },
	{ SCMP_SYS(fcntl), ENOLCK, INT(1, F_OFD_SETLK) },
	{ SCMP_SYS(fcntl), ENOLCK, INT(1, F_OFD_SETLKW) },
	/* Refuse calls that move pages of shared files into memory or out of it. */
	{ SCMP_SYS(madvise), EINVAL, INT(2, MADV_WILLNEED) },
	{ SCMP_SYS(madvise), EINVAL, INT(2, MADV_COLD) },
	{ SCMP_SYS(madvise), EINVAL, INT(2, MADV_PAGEOUT) },
	{ SCMP_SYS(madvise), EINVAL, INT(2, MADV_POPULATE_READ) },
	/* Refuse holes in the memory that a player shares with its judge. The kernel would make the
	 * judge wait until all maps of the hole are gone. */
	{ SCMP_SYS(madvise), EINVAL, INT(2, MADV_REMOVE) },
	{ SCMP_SYS(fallocate), EOPNOTSUPP, HAS(1, FALLOC_FL_PUNCH_HOLE) },
	{ SCMP_SYS(clone), EINVAL, HAS(0, CLONE_PIDFD) },
	/* Refuse reading a socket's cookie, a number that counts the machine's sockets. */
	{ SOCKET_OPTION(SCMP_SYS(getsockopt), SO_COOKIE) },
};

static int seccomp_add_rules(scmp_filter_ctx filter, const struct seccomp_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct seccomp_rule *rule = &rules[i];
		const struct scmp_arg_cmp conditions[] = {
			{ rule->argument, rule->op, rule->a, rule->b },
			{ rule->argument2, rule->op2, rule->a2, rule->b2 },
		};
		int r = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(rule->error), rule->call,
				(rule->op != 0) + (rule->op2 != 0), conditions);

		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Adds a rule that refuses any system call number above LAST_KNOWN_CALL; libseccomp has no such
 * rule.
 */
static void seccomp_add_newer(struct buf *out)
{
	static const struct sock_filter newer[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN_CALL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};

	buf_add(out, newer, sizeof(newer));
}

static int seccomp_read(scmp_filter_ctx filter, struct buf *out)
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
	r = fd_read_all(fd, out);
	if (r < 0)
		return r;
	/* fail if the seccomp filter was truncated: it may allow any call */
	return out->truncated ? -ENOMEM : 0;
}

static int seccomp_compile(scmp_filter_ctx filter, const struct seccomp_rule *rules, size_t n,
		const struct seccomp_rule *more, size_t n_more, struct buf *out)
{
	/* Refuse system calls of another architecture, like those by int 0x80. */
	int r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));

	if (r < 0)
		return r;
	/* Value 2 has libseccomp sort a filter's rules into a binary tree. */
	r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r < 0)
		return r;
	r = seccomp_add_rules(filter, rules, n);
	if (r < 0)
		return r;
	r = seccomp_add_rules(filter, more, n_more);
	if (r < 0)
		return r;
	buf_init(out, FILTER_BYTES_MAX);
	seccomp_add_newer(out);
	return seccomp_read(filter, out);
}

static int seccomp_make(const struct seccomp_rule *rules, size_t n, const struct seccomp_rule *more,
		size_t n_more, struct buf *out, struct fh_error *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (!filter)
		return error_set(err, ENOMEM, "make a seccomp filter");
	r = seccomp_compile(filter, rules, n, more, n_more, out);
	seccomp_release(filter);
	return r < 0 ? error_set(err, -r, "build a seccomp filter") : 0;
}

int seccomp_build(struct buf *out_base, struct buf *out_agent, struct buf *out_judged,
		struct fh_error *err)
{
	int r = seccomp_make(base_rules, ARRAY_SIZE(base_rules), NULL, 0, out_base, err);

	if (r < 0)
		return r;
	r = seccomp_make(agent_rules, ARRAY_SIZE(agent_rules), NULL, 0, out_agent, err);
	if (r < 0)
		return r;
	return seccomp_make(agent_rules, ARRAY_SIZE(agent_rules), judged_rules,
			ARRAY_SIZE(judged_rules), out_judged, err);
}
