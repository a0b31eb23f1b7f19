/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_H
#define FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * Fault injection makes calls fail when a test asks for it. The linker's --wrap puts it into the
 * tests, which are owners, and into the plugin that their nurseries load. Installed programs don't
 * have it.
 *
 * A test shares a page of memory with all processes that its nurseries clone. While `watching` is
 * set, the page lists each site that a process passes. A site is a call, its place in the code, and
 * the side: owner or guest. A test then arms a site. It fails once, the nth time that any process
 * passes it.
 */

/* Calls that can be made to fail, and the error of each. 1: a signal can also interrupt it. 2: it
 * can also transfer fewer bytes than asked for. meson.build takes the names from here. */
#define FAULT_CALLS(X)                                                                             \
	X(chdir, EACCES, 0)                                                                        \
	X(chmod, EPERM, 0)                                                                         \
	X(chown, EPERM, 0)                                                                         \
	X(close_range, EPERM, 0)                                                                   \
	X(dup2, EMFILE, 0)                                                                         \
	X(dup3, EMFILE, 0)                                                                         \
	X(epoll_create1, EMFILE, 0)                                                                \
	X(epoll_ctl, ENOSPC, 0)                                                                    \
	X(epoll_wait, EINTR, 1)                                                                    \
	X(eventfd, EMFILE, 0)                                                                      \
	X(execveat, ENOMEM, 0)                                                                     \
	X(execvp, ENOMEM, 0)                                                                       \
	X(fchmod, EPERM, 0)                                                                        \
	X(fchown, EPERM, 0)                                                                        \
	X(fchownat, EPERM, 0)                                                                      \
	X(fcntl64, EMFILE, 0)                                                                      \
	X(fdatasync, EIO, 0)                                                                       \
	X(fdopendir, ENOMEM, 0)                                                                    \
	X(flock, ENOLCK, 1)                                                                        \
	X(fopen64, EMFILE, 0)                                                                      \
	X(fork, EAGAIN, 0)                                                                         \
	X(fstat64, ENOMEM, 0)                                                                      \
	X(fstatat64, ENOMEM, 0)                                                                    \
	X(fstatfs64, EIO, 0)                                                                       \
	X(fsync, EIO, 0)                                                                           \
	X(ftruncate64, EIO, 0)                                                                     \
	X(fts64_open, ENOMEM, 0)                                                                   \
	X(getrandom, EIO, 0)                                                                       \
	X(getrlimit64, EPERM, 0)                                                                   \
	X(ioctl, ENOMEM, 0)                                                                        \
	X(link, EIO, 0)                                                                            \
	X(linkat, ENOSPC, 0)                                                                       \
	X(lseek64, EIO, 0)                                                                         \
	X(lstat64, EIO, 0)                                                                         \
	X(memfd_create, ENFILE, 0)                                                                 \
	X(mkdir, ENOSPC, 0)                                                                        \
	X(mkdirat, ENOSPC, 0)                                                                      \
	X(mkfifo, ENOSPC, 0)                                                                       \
	X(mmap64, ENOMEM, 0)                                                                       \
	X(mount, ENOMEM, 0)                                                                        \
	X(nftw64, EMFILE, 0)                                                                       \
	X(open64, EMFILE, 0)                                                                       \
	X(openat64, EMFILE, 0)                                                                     \
	X(opendir, EMFILE, 0)                                                                      \
	X(pipe2, EMFILE, 0)                                                                        \
	X(poll, ENOMEM, 1)                                                                         \
	X(posix_spawn, EAGAIN, 0)                                                                  \
	X(posix_spawnp, EAGAIN, 0)                                                                 \
	X(ppoll, ENOMEM, 1)                                                                        \
	X(prctl, EPERM, 0)                                                                         \
	X(pread64, EIO, 0)                                                                         \
	X(pthread_create, EAGAIN, 0)                                                               \
	X(pwrite64, EIO, 0)                                                                        \
	X(read, EIO, 2)                                                                            \
	X(readlink, EIO, 0)                                                                        \
	X(readlinkat, EIO, 0)                                                                      \
	X(realloc, ENOMEM, 0)                                                                      \
	X(realpath, ENOMEM, 0)                                                                     \
	X(recv, ENOMEM, 1)                                                                         \
	X(recvmsg, ENOMEM, 1)                                                                      \
	X(rename, EIO, 0)                                                                          \
	X(renameat, EIO, 0)                                                                        \
	X(rmdir, EBUSY, 0)                                                                         \
	X(scandir64, ENOMEM, 0)                                                                    \
	X(seccomp_init, ENOMEM, 0)                                                                 \
	X(send, ENOBUFS, 1)                                                                        \
	X(sendfile64, EIO, 2)                                                                      \
	X(sendmsg, ENOBUFS, 1)                                                                     \
	X(setgroups, EPERM, 0)                                                                     \
	X(sethostname, EPERM, 0)                                                                   \
	X(setns, ENOMEM, 0)                                                                        \
	X(setresgid, EAGAIN, 0)                                                                    \
	X(setresuid, EAGAIN, 0)                                                                    \
	X(setrlimit64, EPERM, 0)                                                                   \
	X(setsid, EPERM, 0)                                                                        \
	X(setxattr, EOPNOTSUPP, 0)                                                                 \
	X(shutdown, ENOTCONN, 0)                                                                   \
	X(signalfd, EMFILE, 0)                                                                     \
	X(socket, ENFILE, 0)                                                                       \
	X(socketpair, EMFILE, 0)                                                                   \
	X(stat64, EIO, 0)                                                                          \
	X(symlink, ENOSPC, 0)                                                                      \
	X(symlinkat, ENOSPC, 0)                                                                    \
	X(syscall, EAGAIN, 0)                                                                      \
	X(timerfd_create, EMFILE, 0)                                                               \
	X(umount2, EBUSY, 0)                                                                       \
	X(unlink, EIO, 0)                                                                          \
	X(unlinkat, EIO, 0)                                                                        \
	X(unshare, ENOSPC, 0)                                                                      \
	X(waitpid, ECHILD, 1)                                                                      \
	X(write, ENOSPC, 2)                                                                        \
	X(xasprintf, ENOMEM, 0)                                                                    \
	X(xcalloc, ENOMEM, 0)                                                                      \
	X(xgrow, ENOMEM, 0)                                                                        \
	X(xrealloc, ENOMEM, 0)                                                                     \
	X(xstrdup, ENOMEM, 0)                                                                      \
	X(xstrndup, ENOMEM, 0)

enum fault_call {
#define FAULT_NUMBER(name, error, other) CALL_##name,
	FAULT_CALLS(FAULT_NUMBER)
#undef FAULT_NUMBER
			N_FAULT_CALLS
};

/* Whether code runs in the owner's process or in a guest's. -DFAULT_SIDE chooses when compiling. */
enum fault_side { FAULT_OWNER, FAULT_GUEST };

enum fault_kind {
	FAULT_NONE,
	FAULT_ERROR, /* the call fails with its usual error */
	FAULT_INTR,  /* the call fails with EINTR */
	FAULT_SHORT, /* the call transfers fewer bytes than asked for */
	FAULT_KILL,  /* the process is killed in place of the call */
};

struct fault_site {
	_Atomic uint64_t key; /* side, call and place in the code; 0: unused entry */
	atomic_uint passes;
};

#define FAULT_SITES_MAX 2048
#define FAULT_RUNS_MAX 64

struct fault_page {
	atomic_bool watching;
	atomic_uint phase; /* index of the act being played, for error messages */
	struct fault_site sites[FAULT_SITES_MAX];

	_Atomic uint64_t armed; /* key of the call site that fails next; 0: none */
	atomic_uint armed_pass, armed_kind, seen;
	atomic_uint hits, hit_phase;
	atomic_int hit_pid;

	/* While true, the clock CLOCK_REALTIME is read as a year ahead and a year behind, in
	 * turns. */
	atomic_bool clock_jumps;
	atomic_uint clock_reads;

	/* Results of a play, which stay readable after its process was killed. `given` counts for
	 * each run the steps whose observations were given out. -1: not even that of the reset. */
	atomic_int given[FAULT_RUNS_MAX];
	char trouble[2048];
};

/* Descriptor of the shared page in the test's process. Nurseries open the page by this number. */
#define FAULT_PAGE_FD 900

extern struct fault_page *fault_page;

/* True while a thread runs the test's own code, so that no fault is injected into its calls. */
extern _Thread_local bool fault_spared;

/* Called by each wrapped function: returns the fault that it shall simulate. Sets errno unless that
 * is FAULT_NONE. */
enum fault_kind fault_at(enum fault_call call, const void *from);

/* Called by the wrapper of clock_gettime(): seconds to add to CLOCK_REALTIME. */
time_t fault_clock(void);

/* --- for tests -------------------------------------------------------------------------------- */

int fault_page_open(void); /* makes the shared page; < 0: an errno */

void fault_watch(bool on); /* true: starts a new list of call sites */
void fault_phase(unsigned phase);

/* Makes a call site fail at the nth time that it is passed from now on. `pass` is n, from 1. */
void fault_arm(uint64_t key, unsigned pass, enum fault_kind kind);

/* Ends the failing of an armed call site. Returns how often it failed, 0 or 1. */
unsigned fault_disarm(void);

enum fault_side fault_side_of(uint64_t key);
enum fault_call fault_call_of(uint64_t key);
bool fault_interruptible(uint64_t key);
bool fault_may_be_short(uint64_t key);
bool fault_is_of_memory(uint64_t key); /* a small allocation: failing aborts the process */

/* A text such as "open64 in the owner at 0x1234", valid until the next call. addr2line finds the
 * place in the code. */
const char *fault_name(uint64_t key);
const char *fault_call_name(enum fault_call call);

#endif
