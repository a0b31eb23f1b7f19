/* SPDX-License-Identifier: Apache-2.0 */
#include "base/landlock.h"

#include "sandbox_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Tries actions that a sandbox refuses, from inside as the agent and as root. Also tests the kinds
 * of networks. */

/*
 * Python code that runs before each refused action. call(number, arguments...) returns the errno of
 * a system call, or 0. fails(function, arguments...) returns the errno of a function of Python.
 */
static const char prelude[] =
		"import ctypes, errno, fcntl, mmap, os, socket, struct, sys\n"
		"libc = ctypes.CDLL(None, use_errno=True)\n"
		"def call(number, *args):\n"
		"    ctypes.set_errno(0)\n"
		"    args = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]\n"
		"    r = libc.syscall(ctypes.c_long(number), *args)\n"
		"    return ctypes.get_errno() if r < 0 else 0\n"
		"def fails(f, *args):\n"
		"    try: f(*args)\n"
		"    except OSError as e: return e.errno\n"
		"    return 0\n"
		"def fork(number, *args):\n" /* like call(), for calls that may fork */
		"    e = call(number, *args)\n"
		"    if e == 0 and os.getpid() != me: os._exit(0)\n"
		"    return e\n"
		"me = os.getpid()\n"
		"pair = os.openpty()\n"
		"name = ctypes.create_string_buffer(b'x')\n"
		"path = ctypes.create_string_buffer(b'/tmp')\n"
		"size = ctypes.create_string_buffer(64)\n"
		"def int80(number):\n" /* machine code: mov eax, number; int 0x80; ret */
		"    m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n"
		"    m.write(b'\\x53\\xb8' + struct.pack('I', number) + b'\\xcd\\x80\\x5b\\xc3')\n"
		"    f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\n"
		"    return -f()\n";

/* Refused actions, as Python expressions, and the error that each must give. */
static const struct {
	const char *what, *error;
} refused[] = {
	/* namespaces and mounts that a sandbox must not make */
	{ "call(272, 0x10000000)", "EPERM" }, /* unshare(CLONE_NEWUSER) */
	{ "call(272, 0x20000)", "EPERM" },    /* unshare(CLONE_NEWNS) */
	{ "call(272, 0)", "EPERM" },
	{ "fork(56, 0x10000000 | 17, 0, 0, 0, 0)", "EPERM" },          /* clone(CLONE_NEWUSER) */
	{ "fork(56, 0x40000000 | 17, 0, 0, 0, 0)", "EPERM" },          /* clone(CLONE_NEWNET) */
	{ "fork(56, 0x20000000 | 17, 0, 0, 0, 0)", "EPERM" },          /* clone(CLONE_NEWPID) */
	{ "fork(56, 0x00020000 | 17, 0, 0, 0, 0)", "EPERM" },          /* clone(CLONE_NEWNS) */
	{ "fork(56, 0x02000000 | 17, 0, 0, 0, 0)", "EPERM" },          /* clone(CLONE_NEWCGROUP) */
	{ "fork(435, size, 64)", "ENOSYS" },                           /* clone3 */
	{ "call(308, os.open('/proc/self/ns/user', 0), 0)", "EPERM" }, /* setns */
	{ "call(165, name, path, name, 0, 0)", "EPERM" },              /* mount */
	{ "call(166, path, 2)", "EPERM" },                             /* umount2 */
	{ "call(155, path, path)", "EPERM" },                          /* pivot_root */
	{ "call(161, path)", "EPERM" },                                /* chroot */
	{ "call(428, -100, path, 1)", "EPERM" },                       /* open_tree */
	{ "call(429, 0, path, 0, path, 0)", "EPERM" },                 /* move_mount */
	{ "call(430, name, 0)", "EPERM" },                             /* fsopen */
	{ "call(433, -100, path, 0)", "EPERM" },                       /* fspick */
	{ "call(442, -100, path, 0, size, 32)", "EPERM" },             /* mount_setattr */
	/* access to other processes */
	{ "call(101, 0, 0, 0, 0)", "EPERM" },             /* ptrace */
	{ "call(310, 1, size, 1, size, 1, 0)", "EPERM" }, /* process_vm_readv */
	{ "call(438, 0, 0, 0)", "EPERM" },                /* pidfd_getfd */
	{ "call(312, 1, 1, 0, 0, 0)", "EPERM" },          /* kcmp */
	{ "fails(os.kill, 1, 9) if os.getuid() else 1", "EPERM" },
	{ "fails(open, '/proc/1/mem', 'rb')", "EACCES" },
	{ "fails(os.readlink, '/proc/1/exe')", "EACCES" },
	{ "fails(os.readlink, '/proc/1/fd/0')", "EACCES" },
	/* rarely used and risky parts of the kernel */
	{ "call(321, 0, size, 64)", "EPERM" },                 /* bpf */
	{ "call(250, 0, 0, 0, 0, 0)", "EPERM" },               /* keyctl */
	{ "call(248, name, name, name, 1, 0)", "EPERM" },      /* add_key */
	{ "call(249, name, name, name, 0)", "EPERM" },         /* request_key */
	{ "call(298, size, 0, -1, -1, 0)", "EPERM" },          /* perf_event_open */
	{ "call(323, 0)", "EPERM" },                           /* userfaultfd */
	{ "call(425, 1, size)", "ENOSYS" },                    /* io_uring_setup */
	{ "call(304, 0, size, 0)", "EPERM" },                  /* open_by_handle_at */
	{ "call(300, 0, 0)", "EPERM" },                        /* fanotify_init */
	{ "call(103, 3, size, 10)", "EPERM" },                 /* syslog */
	{ "call(169, 0xfee1dead, 672274793, 0, 0)", "EPERM" }, /* reboot, which would do nothing */
	{ "call(246, 0, 0, size, 0)", "EPERM" },               /* kexec_load */
	{ "call(175, size, 1, name)", "EPERM" },               /* init_module */
	{ "call(172, 3)", "EPERM" },                           /* iopl */
	{ "call(167, path, 0)", "EPERM" },                     /* swapon */
	{ "call(163, 0)", "EPERM" },                           /* acct */
	{ "call(227, 0, size)", "EPERM" },                     /* clock_settime */
	{ "call(154, 0, size, 64)", "ENOSYS" },                /* modify_ldt */
	{ "call(463, 0, 0, 0, 0, 0, 0)", "ENOSYS" },           /* a call newer than the filter */
	{ "call(467, -100, path, 0, 0, 0)", "ENOSYS" },        /* open_tree_attr */
	{ "call(521)", "ENOSYS" },                             /* ptrace by its number on x32 */
	{ "int80(20)", "ENOSYS" },                             /* getpid by its number on i386 */
	{ "call(0x40000000 | 39)", "ENOSYS" },                 /* getpid of x32 */
	/* objects that the kernel counts for a user or for the whole machine */
	{ "call(253)", "ENOSYS" },                              /* inotify_init */
	{ "call(294, 0)", "ENOSYS" },                           /* inotify_init1 */
	{ "call(240, path, 0o102, 0o600, 0)", "ENOSYS" },       /* mq_open */
	{ "call(319, name, 4)", "ENOMEM" },                     /* memfd_create of huge pages */
	{ "call(9, 0, 1 << 21, 3, 0x44022, -1, 0)", "ENOMEM" }, /* mmap of huge pages, unreserved */
	{ "call(29, 1, 1 << 21, 0o5600)", "ENOMEM" },           /* shmget of huge pages */
	/* rights */
	{ "fails(os.setuid, 1001)", "EPERM" },
	{ "fails(os.setgroups, [1])", "EPERM" },
	{ "fails(os.chown, '/tmp', 1001, 1001)", "EPERM" },
	{ "fails(os.mknod, '/tmp/dev', 0o20666, os.makedev(1, 5))", "EPERM" },
	{ "fails(socket.sethostname, 'x')", "EPERM" },
	{ "fails(os.setpriority, 0, 0, -5)", "EACCES" },
	{ "fails(open, '/proc/sys/kernel/core_pattern', 'w')", "EACCES" },
	{ "fails(open, '/proc/sys/vm/drop_caches', 'w')", "EACCES" },
	{ "fails(open, '/proc/self/oom_score_adj', 'w') or fails(os.write, "
	  "os.open('/proc/self/oom_score_adj', 1), b'-1000')",
			"EACCES" },
	{ "fails(open, '/usr/bin/new', 'w')", "EROFS" },
	{ "fails(open, '/new', 'w')", "EROFS" },
	{ "fails(open, '/dev/new', 'w')", "EROFS" },
	{ "fails(open, '/dev/tty', 'r')", "ENXIO" },
	/* unusual families of sockets, and calls that put input into a terminal */
	{ "fails(socket.socket, 17, 3, 0)", "EAFNOSUPPORT" },     /* packet */
	{ "fails(socket.socket, 38, 5, 0)", "EAFNOSUPPORT" },     /* crypto */
	{ "fails(socket.socket, 40, 1, 0)", "EAFNOSUPPORT" },     /* vsock */
	{ "fails(socket.socket, 31, 3, 1)", "EAFNOSUPPORT" },     /* bluetooth */
	{ "fails(socket.socket, 29, 3, 1)", "EAFNOSUPPORT" },     /* can */
	{ "fails(socket.socket, 9, 5, 0)", "EAFNOSUPPORT" },      /* x25 */
	{ "fails(socket.socket, 16, 3, 15)", "EAFNOSUPPORT" },    /* netlink for uevents */
	{ "fails(socket.socket, 16, 3, 9)", "EAFNOSUPPORT" },     /* netlink for audit */
	{ "fails(socket.socketpair, 17, 3, 0)", "EAFNOSUPPORT" }, /* packet */
	{ "fails(socket.socketpair, 40, 1, 0)", "EAFNOSUPPORT" }, /* vsock */
	{ "call(53, 0x100000011, 3, 0, size)", "EAFNOSUPPORT" },  /* the kernel uses its low half */
	{ "fails(socket.socket, 2, 3, 1)", "EPERM" },             /* raw */
	{ "fails(socket.socket, 10, 3, 58)", "EPERM" },
	{ "fails(socket.socket, 2, 10, 0)", "ESOCKTNOSUPPORT" },   /* the old packet socket */
	{ "fails(socket.socket, 2, 5, 0)", "ESOCKTNOSUPPORT" },    /* sctp */
	{ "fails(socket.socket, 2, 1, 132)", "EPROTONOSUPPORT" },  /* sctp */
	{ "fails(socket.socket, 2, 6, 0)", "ESOCKTNOSUPPORT" },    /* dccp */
	{ "fails(socket.socket, 2, 1, 262)", "EPROTONOSUPPORT" },  /* mptcp */
	{ "fails(socket.socket, 10, 1, 256)", "EPROTONOSUPPORT" }, /* smc */
	{ "fails(fcntl.ioctl, pair[1], 0x5412, b'x')", "EPERM" },  /* TIOCSTI */
	{ "fails(fcntl.ioctl, pair[1], 0x541c, b'x')", "EPERM" },  /* TIOCLINUX */
	{ "fails(fcntl.ioctl, pair[1], 0x5423, struct.pack('i', 2))", "EPERM" }, /* TIOCSETD */
	{ "fails(fcntl.fcntl, os.memfd_create('l'), fcntl.F_SETLEASE, fcntl.F_WRLCK)", "EPERM" },
	{ "fails(fcntl.fcntl, os.open('/usr', 0), fcntl.F_NOTIFY, fcntl.DN_ACCESS)", "EPERM" },
};

static void test_refused(void **state)
{
	struct sandbox *sb = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	struct program_request request = { .argv = NULL };
	auto_buf struct buf script = BUF_INIT(65536);
	auto_buf struct buf expected = BUF_INIT(65536);

	buf_add_str(&script, prelude);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		buf_printf(&script,
				"e = %s\nprint(\"%s\", errno.errorcode.get(e, e), flush=True)\n",
				refused[i].what, refused[i].what);
		buf_printf(&expected, "%s %s\n", refused[i].what, refused[i].error);
	}
	assert_false(script.truncated || expected.truncated);
	request.argv = (const char *const[]){ "python3", "-IS", "-", NULL };
	assert_done(put_file(sb, "/tmp", "script", script.data, script.len, 0644));
	request.argv = (const char *const[]){ "python3", "-IS", "/tmp/script", NULL };
	for (request.user = USER_AGENT;; request.user = USER_ROOT) {
		const struct ran *ran = program_request(sb, &request);
		const char *got = ran->output, *want = buf_str(&expected);

		while (*got && *want) { /* skip to the first line that differs */
			size_t n = strcspn(want, "\n") + 1;

			if (strncmp(got, want, n) != 0)
				fail_msg("as %d: '%.*s' instead of '%.*s'", request.user,
						(int)strcspn(got, "\n"), got, (int)n - 1, want);
			got += n;
			want += n;
		}
		assert_string_equal(got, want);
		if (request.user == USER_ROOT)
			break;
	}
	sandbox_close(sb);
}

/* A sandbox allows what programs need: threads, shared memory, pipes, sockets, signals and their
 * own terminal. */
static void test_allowed(void **state)
{
	static const char script[] =
			"import mmap, multiprocessing as mp, os, pty, select, signal, socket, threading\n"
			"import subprocess, tempfile\n"
			"t = threading.Thread(target=lambda: print('thread')); t.start(); t.join()\n"
			"p = mp.get_context('fork').Process(target=lambda: print('process', flush=True))\n"
			"p.start(); p.join()\n"
			"s = mp.get_context('fork').Lock(); s.acquire(); s.release()\n"
			"print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout)\n"
			"a, b = socket.socketpair(); a.send(b'pair'); print(b.recv(9))\n"
			"l = socket.create_server(('127.0.0.1', 0))\n"
			"c = socket.create_connection(l.getsockname()); print('tcp')\n"
			"l6 = socket.create_server(('::1', 0), family=socket.AF_INET6); print('tcp6')\n"
			"socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); print(socket.if_nameindex())\n"
			"u = socket.socket(socket.AF_UNIX); u.bind('\\0abstract'); print('unix')\n"
			"m, f = pty.openpty(); os.write(f, b'pty'); print(os.read(m, 9), os.ttyname(f)[:9])\n"
			"e = select.epoll(); print(os.memfd_create('x') > 0, os.cpu_count() > 0)\n"
			"with tempfile.NamedTemporaryFile() as t: print(t.name[:5])\n"
			"signal.alarm(0); print(os.sched_getaffinity(0) != set(), os.getpriority(0, 0) >= 0)\n"
			"os.nice(5); os.setsid() if os.getpid() != os.getsid(0) else None\n"
			"os.mkfifo('/tmp/fifo'); open('/dev/shm/x', 'w').write('x'); print(open('/dev/shm/x').read())\n"
			"print(os.getxattr, os.posix_fallocate(os.open('/tmp/y', 66), 0, 4096))\n";
	struct sandbox *sb = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	const struct ran *ran = run_python(sb, script);

	assert_has(ran->output,
			"thread\nprocess\nchild\n\nb'pair'\ntcp\ntcp6\n[(1, 'lo')]\nunix\n"
			"b'pty' /dev/pts/\nTrue True\n/tmp/\nTrue True\nx\n");
	assert_int_equal(ran->status, 0);
	sandbox_close(sb);
}

/* --- networks --------------------------------------------------------------------------------- */

/* Opens a listening socket in the test's process: on the loopback device, or with an abstract name.
 * Writes Python code that connects to it. */
static int listen_here(bool tcp, char *out_python, size_t size)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t n = sizeof(in);
	int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	if (tcp) {
		assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
		assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &n), 0);
		snprintf(out_python, size, "2), ('127.0.0.1', %d", ntohs(in.sin_port));
	} else {
		snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "fumehood-test-%d", getpid());
		assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
		snprintf(out_python, size, "1), ('\\0fumehood-test-%d' + '\\0' * %zu", getpid(),
				sizeof(un.sun_path) - 1 - strlen(un.sun_path + 1));
	}
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static void test_networks(void **state)
{
	struct sandbox *none = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	struct sandbox *host = start_sandbox(
			&(struct sandbox_options){ .layer = "empty", .network = NETWORK_HOST });

	for (int tcp = 0; tcp < 2; tcp++) {
		char address[256], script[512];
		auto_close int fd = listen_here(tcp, address, sizeof(address));

		assert_true(fd >= 0);
		snprintf(script, sizeof(script),
				"import socket\n"
				"def go(s, a):\n"
				"    try: s.connect(a); print('connected')\n"
				"    except OSError as e: print(e.errno)\n"
				"go(socket.socket(%s))",
				address);
		assert_string_equal(run_python(none, script)->output, "111\n");
		assert_string_equal(run_python(host, script)->output,
				tcp || !landlock_can_scope_sockets() ? "connected\n" : "1\n");
	}
	assert_string_equal(run_python(none,
					    "import socket\n"
					    "s = socket.socket(2, 2)\n"
					    "try: s.connect(('192.0.2.1', 9))\n"
					    "except OSError as e: print(e.errno)\n"
					    "print(socket.if_nameindex())")
					    ->output,
			"101\n[(1, 'lo')]\n");
	assert_string_equal(
			run_script(none, "cat /etc/resolv.conf; wc -l </etc/hosts")->output, "3\n");
	assert_int_equal(run_script(host, "test -e /etc/resolv.conf && cat /etc/hosts")->status, 0);
	assert_int_equal(run_script(host, "echo x >>/etc/hosts")->status, 1);
	sandbox_close(none);
	sandbox_close(host);
}

/* A sandbox finds no file, process, socket or shared memory of another sandbox. */
static void test_two_sandboxes(void **state)
{
	struct sandbox *one = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	struct sandbox *two = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	static const char leave[] =
			"echo x >/tmp/x; echo x >/dev/shm/x; echo x >file\n"
			"python3 -ISc 'import socket, time\n"
			"s = socket.socket(1); s.bind(\"\\0name\"); s.listen()\n"
			"t = socket.create_server((\"127.0.0.1\", 7777))\n"
			"open(\"up\", \"w\"); time.sleep(1000)' &\n"
			"until [ -e up ]; do :; done; ipcmk -Q >/dev/null; sleep 1000 &";

	run_script(one, leave);
	assert_string_equal(
			run_script(two,
					"ls -A /tmp /dev/shm .; ipcs -q | grep -c 0x; pgrep sleep; "
					"kill -9 -1 2>/dev/null; python3 -ISc 'import socket\n"
					"for s, a in (1, \"\\0name\"), (2, (\"127.0.0.1\", 7777)):\n"
					"    print(socket.socket(s).connect_ex(a))'")
					->output,
			".:\n\n/dev/shm:\n\n/tmp:\n0\n111\n111\n");
	assert_string_equal(run_script(one, "pgrep -c sleep; cat file")->output, "1\nx\n");
	sandbox_close(one);
	sandbox_close(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_networks),
		cmocka_unit_test(test_two_sandboxes),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
