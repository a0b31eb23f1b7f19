# SPDX-License-Identifier: Apache-2.0
"""System calls that could lead out of a sandbox: each fails with the expected error."""

from conftest import ATTACK

REFUSED = {
    "EPERM": """mount mount-bind mount-remount umount2 open_tree move_mount fsopen fspick fsconfig
        fsmount mount_setattr pivot_root chroot unshare-user unshare-mnt unshare-net unshare-pid
        unshare-cgroup unshare-time unshare-high setns clone-user clone-mnt clone-net clone-pid
        clone-ipc clone-uts clone-cgroup ptrace-me ptrace-init process_vm_readv process_vm_writev
        process_madvise pidfd_getfd kcmp bpf perf_event_open add_key request_key keyctl userfaultfd
        fanotify_init open_by_handle_at quotactl acct swapon syslog reboot kexec_load init_module
        finit_module settimeofday clock_settime adjtimex iopl ioperm vhangup sethostname setuid
        setgid setgroups mknod-disk mknod-mem socket-raw socket-raw-high socket-raw6 lease notify shm-lock
        mbind-move migrate_pages move_pages""",
    "ENOSYS": """clone3 io_setup io_uring_setup io_uring_enter io_uring_register inotify_init1 mq_open
        modify_ldt remap_file_pages seccomp beyond-the-known x32-getpid x32-ptrace int80-getpid""",
    "EAFNOSUPPORT": """socket-family-high socket-packet socket-vsock socket-alg socket-can socket-tipc socket-xdp
        socket-netlink-nf socket-netlink-audit socket-netlink-uevent socketpair-tipc""",
    "EPROTONOSUPPORT": "socket-sctp socket-mptcp",
    "ENOPROTOOPT": """socket-filter socket-filter-high socket-bpf socket-port-filter socket-port-bpf
        get-sources set-sources get-group set-group get-group6 set-group6""",
    "EOPNOTSUPP": """interfaces interfaces-high ethtool bridges set-bridges wan vlan set-vlan bond bond-slave
        time-stamps device-first device-last wireless-first wireless-last""",
    "ENOMEM": "memfd-huge",
    "EINVAL": "seccomp-prctl mremap-copy mremap-keep collapse",
    "done": "getpid",
}
EXPECTED = {name: error for error, names in REFUSED.items() for name in names.split()}


def test_calls_are_refused(agent):
    assert agent.tried(f"{ATTACK}/calls") == EXPECTED


def test_calls_of_a_program_without_a_shell(fumehood, inside, neighbour):
    done = fumehood("sandbox", "exec", "--bind", f"{inside}:{ATTACK}", "--", f"{ATTACK}/calls")
    assert dict(line.split() for line in done.stdout.splitlines()) == EXPECTED


def test_a_dump_goes_nowhere(agent):
    """A limit of 1 keeps the kernel from starting a program for a core dump. It stays 1."""
    said = agent.sh(
        "ulimit -c 0; python3 -c 'import resource as r, os; r.setrlimit(r.RLIMIT_CORE, (0, 0));"
        "print(r.getrlimit(r.RLIMIT_CORE), flush=True); os.abort()'; ls core* 2>/dev/null; ulimit -c"
    )
    assert said.startswith("(1, 1)\n") and "dumped" not in said and "core." not in said
