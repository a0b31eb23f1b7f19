/* SPDX-License-Identifier: Apache-2.0 */
/* Makes system calls that could lead out of the sandbox, or to less tested parts of the kernel.
 * Prints `NAME ERRNO` for each, or `NAME done` if the call succeeds. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define P(x) ((long)(uintptr_t)(x))
#define HIGH (1L << 32) /* a bit that the kernel ignores, so that filters have to ignore it too */
#define X32 0x40000000L
#define SHARED_AT 0x20000000L /* address of a page of shared memory, mapped by main() */

static char room[4096];
static char large[2 << 20] __attribute__((aligned(2 << 20)));
static struct clone_args in_new_user = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
static union bpf_attr map = {
	.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
};
static struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(event) };
static struct file_handle handle = { .handle_bytes = 8, .handle_type = 1 };

static const struct {
	const char *name;
	long call, a[6];
} calls[] = {
	{ "mount", SYS_mount, { P("x"), P("/tmp"), P("tmpfs") } },
	{ "mount-bind", SYS_mount, { P("/proc"), P("/tmp"), 0, MS_BIND } },
	{ "mount-remount", SYS_mount, { 0, P("/usr"), 0, MS_REMOUNT | MS_BIND } },
	{ "umount2", SYS_umount2, { P("/proc"), MNT_DETACH } },
	{ "open_tree", SYS_open_tree, { AT_FDCWD, P("/"), 1 } },
	{ "move_mount", SYS_move_mount, { AT_FDCWD, P("/proc"), AT_FDCWD, P("/tmp") } },
	{ "fsopen", SYS_fsopen, { P("tmpfs") } },
	{ "fspick", SYS_fspick, { AT_FDCWD, P("/usr") } },
	{ "fsconfig", SYS_fsconfig, { -1 } },
	{ "fsmount", SYS_fsmount, { -1 } },
	{ "mount_setattr", SYS_mount_setattr, { AT_FDCWD, P("/usr"), 0, P(room), 32 } },
	{ "pivot_root", SYS_pivot_root, { P("."), P(".") } },
	{ "chroot", SYS_chroot, { P("/tmp") } },
	{ "unshare-user", SYS_unshare, { CLONE_NEWUSER } },
	{ "unshare-mnt", SYS_unshare, { CLONE_NEWNS } },
	{ "unshare-net", SYS_unshare, { CLONE_NEWNET } },
	{ "unshare-pid", SYS_unshare, { CLONE_NEWPID } },
	{ "unshare-cgroup", SYS_unshare, { CLONE_NEWCGROUP } },
	{ "unshare-time", SYS_unshare, { CLONE_NEWTIME } },
	{ "unshare-high", SYS_unshare, { CLONE_NEWUSER | HIGH } },
	{ "setns", SYS_setns, { -1 } },
	{ "clone-user", SYS_clone, { CLONE_NEWUSER | SIGCHLD } },
	{ "clone-mnt", SYS_clone, { CLONE_NEWNS | SIGCHLD } },
	{ "clone-net", SYS_clone, { CLONE_NEWNET | SIGCHLD } },
	{ "clone-pid", SYS_clone, { CLONE_NEWPID | SIGCHLD } },
	{ "clone-ipc", SYS_clone, { CLONE_NEWIPC | SIGCHLD } },
	{ "clone-uts", SYS_clone, { CLONE_NEWUTS | SIGCHLD } },
	{ "clone-cgroup", SYS_clone, { CLONE_NEWCGROUP | SIGCHLD } },
	{ "clone3", SYS_clone3, { P(&in_new_user), sizeof(in_new_user) } },
	{ "ptrace-me", SYS_ptrace, { PTRACE_TRACEME } },
	{ "ptrace-init", SYS_ptrace, { PTRACE_SEIZE, 1 } },
	{ "process_vm_readv", SYS_process_vm_readv, { 1 } },
	{ "process_vm_writev", SYS_process_vm_writev, { 1 } },
	{ "process_madvise", SYS_process_madvise, { -1 } },
	{ "pidfd_getfd", SYS_pidfd_getfd, { -1 } },
	{ "kcmp", SYS_kcmp, { 1, 1 } },
	{ "bpf", SYS_bpf, { BPF_MAP_CREATE, P(&map), sizeof(map) } },
	{ "perf_event_open", SYS_perf_event_open, { P(&event), 0, -1, -1, 0 } },
	{ "add_key", SYS_add_key, { P("user"), P("a"), P("b"), 1, KEY_SPEC_PROCESS_KEYRING } },
	{ "request_key", SYS_request_key, { P("user"), P("a") } },
	{ "keyctl", SYS_keyctl, { KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1 } },
	{ "io_uring_setup", SYS_io_uring_setup, { 1, P(room) } },
	{ "io_uring_enter", SYS_io_uring_enter, { -1 } },
	{ "io_uring_register", SYS_io_uring_register, { -1 } },
	{ "io_setup", SYS_io_setup, { 60000, P(room) } },
	{ "shm-lock", SYS_shmctl, { 0, SHM_LOCK } },
	{ "userfaultfd", SYS_userfaultfd, { 1 } },
	{ "fanotify_init", SYS_fanotify_init, { 0 } },
	{ "inotify_init1", SYS_inotify_init1, { 0 } },
	{ "mq_open", SYS_mq_open, { P("q"), O_CREAT | O_RDWR, 0600 } },
	{ "open_by_handle_at", SYS_open_by_handle_at, { AT_FDCWD, P(&handle), O_RDONLY } },
	{ "quotactl", SYS_quotactl, { 0, P("/dev/null") } },
	{ "acct", SYS_acct, { P("/tmp/a") } },
	{ "swapon", SYS_swapon, { P("/tmp/a") } },
	{ "syslog", SYS_syslog, { 3, P(room), 64 } },
	{ "reboot", SYS_reboot, { 0xfee1dead, 672274793, RB_AUTOBOOT } },
	{ "kexec_load", SYS_kexec_load, { 0 } },
	{ "init_module", SYS_init_module, { P(room), sizeof(room), P("") } },
	{ "finit_module", SYS_finit_module, { 0, P("") } },
	{ "settimeofday", SYS_settimeofday, { P(room) } },
	{ "clock_settime", SYS_clock_settime, { 0, P(room) } },
	{ "adjtimex", SYS_adjtimex, { P(room) } },
	{ "iopl", SYS_iopl, { 3 } },
	{ "ioperm", SYS_ioperm, { 0, 1, 1 } },
	{ "modify_ldt", SYS_modify_ldt, { 0, P(room), 64 } },
	{ "vhangup", SYS_vhangup, { 0 } },
	{ "sethostname", SYS_sethostname, { P("x"), 1 } },
	{ "setuid", SYS_setuid, { 0 } },
	{ "setgid", SYS_setgid, { 0 } },
	{ "setgroups", SYS_setgroups, { 0 } },
	{ "mknod-disk", SYS_mknod, { P("/tmp/disk"), S_IFBLK | 0600, 0x800 } },
	{ "mknod-mem", SYS_mknod, { P("/tmp/mem"), S_IFCHR | 0600, 0x101 } },
	{ "socket-raw", SYS_socket, { AF_INET, SOCK_RAW, 1 } },
	{ "socket-raw-high", SYS_socket, { AF_INET, SOCK_RAW | HIGH, 1 } },
	{ "socket-family-high", SYS_socket, { AF_INET | HIGH, SOCK_RAW, 1 } },
	{ "socket-raw6", SYS_socket, { AF_INET6, SOCK_RAW | SOCK_CLOEXEC, 58 } },
	{ "socket-packet", SYS_socket, { AF_PACKET, SOCK_RAW, 0x300 } },
	{ "socket-vsock", SYS_socket, { AF_VSOCK, SOCK_STREAM } },
	{ "socket-alg", SYS_socket, { AF_ALG, SOCK_SEQPACKET } },
	{ "socket-can", SYS_socket, { AF_CAN, SOCK_RAW, 1 } },
	{ "socket-tipc", SYS_socket, { AF_TIPC, SOCK_STREAM } },
	{ "socket-xdp", SYS_socket, { AF_XDP, SOCK_RAW } },
	{ "socket-sctp", SYS_socket, { AF_INET, SOCK_STREAM, 132 } },
	{ "socket-mptcp", SYS_socket, { AF_INET, SOCK_STREAM, 262 } },
	{ "socket-netlink-nf", SYS_socket, { AF_NETLINK, SOCK_RAW, 12 } },
	{ "socket-netlink-audit", SYS_socket, { AF_NETLINK, SOCK_RAW, 9 } },
	{ "socket-netlink-uevent", SYS_socket, { AF_NETLINK, SOCK_RAW, 15 } },
	{ "socketpair-tipc", SYS_socketpair, { AF_TIPC, SOCK_STREAM, 0, P(room) } },
	{ "memfd-huge", SYS_memfd_create, { P("x"), 4 } },
	{ "mremap-copy", SYS_mremap, { SHARED_AT, 0, 4096, MREMAP_MAYMOVE } },
	{ "mremap-keep", SYS_mremap, { SHARED_AT, 4096, 4096, MREMAP_MAYMOVE | MREMAP_DONTUNMAP } },
	{ "collapse", SYS_madvise, { P(large), sizeof(large), 25 } }, /* 25: MADV_COLLAPSE */
	{ "mbind-move", SYS_mbind, { SHARED_AT, 4096, 0, 0, 0, 2 } }, /* the last 2: MPOL_MF_MOVE */
	{ "migrate_pages", SYS_migrate_pages },
	{ "move_pages", SYS_move_pages },
	{ "remap_file_pages", SYS_remap_file_pages, { SHARED_AT, 4096 } },
	{ "lease", SYS_fcntl, { 0, F_SETLEASE, F_RDLCK } },
	{ "notify", SYS_fcntl, { 0, F_NOTIFY, DN_ACCESS | DN_MULTISHOT } },
	{ "seccomp", SYS_seccomp, { 1, 0, P(room) } },
	{ "seccomp-prctl", SYS_prctl, { PR_SET_SECCOMP, 2, P(room) } },
	{ "socket-filter", SYS_setsockopt, { 0, SOL_SOCKET, SO_ATTACH_FILTER, P(room), 16 } },
	{ "socket-filter-high", SYS_setsockopt, { 0, SOL_SOCKET | HIGH, SO_ATTACH_FILTER | HIGH } },
	{ "socket-bpf", SYS_setsockopt, { 0, SOL_SOCKET, SO_ATTACH_BPF, P(room), 4 } },
	{ "socket-port-filter", SYS_setsockopt, { 0, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF } },
	{ "socket-port-bpf", SYS_setsockopt, { 0, SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF } },
	{ "interfaces", SYS_ioctl, { 0, SIOCGIFCONF, P(room) } },
	{ "interfaces-high", SYS_ioctl, { 0, SIOCGIFCONF | HIGH, P(room) } },
	{ "ethtool", SYS_ioctl, { 0, SIOCETHTOOL, P(room) } },
	{ "bridges", SYS_ioctl, { 0, SIOCGIFBR, P(room) } },
	{ "set-bridges", SYS_ioctl, { 0, SIOCSIFBR, P(room) } },
	{ "wan", SYS_ioctl, { 0, SIOCWANDEV, P(room) } },
	{ "vlan", SYS_ioctl, { 0, SIOCGIFVLAN, P(room) } },
	{ "set-vlan", SYS_ioctl, { 0, SIOCSIFVLAN, P(room) } },
	{ "bond", SYS_ioctl, { 0, SIOCBONDINFOQUERY, P(room) } },
	{ "bond-slave", SYS_ioctl, { 0, SIOCBONDSLAVEINFOQUERY, P(room) } },
	{ "time-stamps", SYS_ioctl, { 0, SIOCGHWTSTAMP, P(room) } },
	{ "device-first", SYS_ioctl, { 0, SIOCDEVPRIVATE, P(room) } },
	{ "device-last", SYS_ioctl, { 0, SIOCDEVPRIVATE + 15, P(room) } },
	{ "wireless-first", SYS_ioctl, { 0, 0x8b00, P(room) } }, /* SIOCIWFIRST */
	{ "wireless-last", SYS_ioctl, { 0, 0x8bff, P(room) } },  /* SIOCIWLAST */
	{ "get-sources", SYS_getsockopt, { 0, IPPROTO_IP, IP_MSFILTER, P(room), P(room) } },
	{ "set-sources", SYS_setsockopt, { 0, IPPROTO_IP, IP_MSFILTER, P(room), 16 } },
	{ "get-group", SYS_getsockopt, { 0, IPPROTO_IP, MCAST_MSFILTER, P(room), P(room) } },
	{ "set-group", SYS_setsockopt, { 0, IPPROTO_IP, MCAST_MSFILTER, P(room), 144 } },
	{ "get-group6", SYS_getsockopt, { 0, IPPROTO_IPV6, MCAST_MSFILTER, P(room), P(room) } },
	{ "set-group6", SYS_setsockopt, { 0, IPPROTO_IPV6, MCAST_MSFILTER, P(room), 144 } },
	{ "beyond-the-known", 463, { 0 } },
	{ "x32-getpid", X32 + 39, { 0 } },
	{ "x32-ptrace", X32 + 521, { 0 } },
	{ "getpid", SYS_getpid, { 0 } },
};

/* Makes a system call in the 32-bit way. The kernel sends a signal if it was built without that. */
static long by_int80(long call)
{
	long r = call;

	__asm__ volatile("int $0x80" : "+a"(r) : "b"(0), "c"(0), "d"(0) : "memory");
	return r;
}

static void show(const char *name, long error)
{
	printf("%s %s\n", name, error ? strerrorname_np((int)error) : "done");
	fflush(stdout);
}

int main(void)
{
	if (mmap((void *)SHARED_AT, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
			    0) == MAP_FAILED)
		return 1;
	memset(large, 1, sizeof(large));
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const long *a = calls[i].a;
		pid_t self = getpid();
		long r = syscall(calls[i].call, a[0], a[1], a[2], a[3], a[4], a[5]);

		if (getpid() != self)
			_exit(0); /* end a child that an allowed fork or clone made */
		show(calls[i].name, r < 0 ? errno : 0);
	}
	show("int80-getpid", by_int80(20) == -ENOSYS ? ENOSYS : 0);
	return 0;
}
