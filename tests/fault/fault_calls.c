/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <seccomp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Wrappers of calls, which can make them fail. The linker's --wrap makes callers use __wrap_NAME,
 * and names the call itself __real_NAME. Both are declared here, without the attributes and aliases
 * of the headers.
 */

#define HIT(name) (fault_at(CALL_##name, __builtin_return_address(0)) != FAULT_NONE)

#define WRAP(type, name, failure, parameters, arguments)                                           \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return HIT(name) ? (failure) : __real_##name arguments;                            \
	}

#define WRAP_INT(name, parameters, arguments) WRAP(int, name, -1, parameters, arguments)
#define WRAP_SIZE(name, parameters, arguments) WRAP(ssize_t, name, -1, parameters, arguments)

WRAP_INT(chdir, (const char *path), (path))
WRAP_INT(chmod, (const char *path, mode_t mode), (path, mode))
WRAP_INT(chown, (const char *path, uid_t uid, gid_t gid), (path, uid, gid))
WRAP_INT(close_range, (unsigned first, unsigned last, int flags), (first, last, flags))
WRAP_INT(dup2, (int from, int to), (from, to))
WRAP_INT(dup3, (int from, int to, int flags), (from, to, flags))
WRAP_INT(epoll_create1, (int flags), (flags))
WRAP_INT(epoll_ctl, (int epoll, int op, int fd, void *event), (epoll, op, fd, event))
WRAP_INT(epoll_wait, (int epoll, void *events, int n, int timeout), (epoll, events, n, timeout))
WRAP_INT(eventfd, (unsigned value, int flags), (value, flags))
WRAP_INT(execveat, (int at, const char *path, char *const *argv, char *const *env, int flags),
		(at, path, argv, env, flags))
WRAP_INT(execvp, (const char *file, char *const *argv), (file, argv))
WRAP_INT(fchmod, (int fd, mode_t mode), (fd, mode))
WRAP_INT(fchown, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
WRAP_INT(fchownat, (int at, const char *path, uid_t uid, gid_t gid, int flags),
		(at, path, uid, gid, flags))
WRAP_INT(fdatasync, (int fd), (fd))
WRAP(DIR *, fdopendir, NULL, (int fd), (fd))
WRAP_INT(flock, (int fd, int operation), (fd, operation))
WRAP(FILE *, fopen64, NULL, (const char *path, const char *mode), (path, mode))
WRAP(pid_t, fork, -1, (void), ())
WRAP_INT(fstat64, (int fd, void *st), (fd, st))
WRAP_INT(fstatat64, (int at, const char *path, void *st, int flags), (at, path, st, flags))
WRAP_INT(fstatfs64, (int fd, void *st), (fd, st))
WRAP_INT(fsync, (int fd), (fd))
WRAP(FTS *, fts64_open, NULL,
		(char *const *paths, int options, int (*compare)(const FTSENT **, const FTSENT **)),
		(paths, options, compare))
WRAP_INT(ftruncate64, (int fd, off_t n), (fd, n))
WRAP_SIZE(getrandom, (void *data, size_t n, unsigned flags), (data, n, flags))
WRAP_INT(getrlimit64, (int resource, void *limit), (resource, limit))
WRAP_INT(link, (const char *from, const char *to), (from, to))
WRAP_INT(linkat, (int from_dir, const char *from, int to_dir, const char *to, int flags),
		(from_dir, from, to_dir, to, flags))
WRAP(off_t, lseek64, -1, (int fd, off_t offset, int whence), (fd, offset, whence))
WRAP_INT(lstat64, (const char *path, void *st), (path, st))
WRAP_INT(memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP_INT(mkdir, (const char *path, mode_t mode), (path, mode))
WRAP_INT(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
WRAP_INT(mkfifo, (const char *path, mode_t mode), (path, mode))
WRAP(void *, mmap64, MAP_FAILED,
		(void *at, size_t n, int protection, int flags, int fd, off_t from),
		(at, n, protection, flags, fd, from))
WRAP_INT(mount,
		(const char *source, const char *target, const char *type, unsigned long flags,
				const void *data),
		(source, target, type, flags, data))
WRAP_INT(nftw64, (const char *path, __nftw_func_t callback, int fds, int flags),
		(path, callback, fds, flags))
WRAP(DIR *, opendir, NULL, (const char *path), (path))
WRAP_INT(pipe2, (int *ends, int flags), (ends, flags))
WRAP_INT(poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout))
WRAP(int, posix_spawn, errno,
		(pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
				const posix_spawnattr_t *attributes, char *const *argv,
				char *const *env),
		(pid, path, actions, attributes, argv, env))
WRAP(int, posix_spawnp, errno,
		(pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,
				const posix_spawnattr_t *attributes, char *const *argv,
				char *const *env),
		(pid, file, actions, attributes, argv, env))
WRAP_INT(ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *time, const void *mask),
		(fds, n, time, mask))
WRAP_SIZE(pread64, (int fd, void *data, size_t n, off_t from), (fd, data, n, from))
WRAP(int, pthread_create, errno,
		(pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *),
				void *data),
		(thread, attributes, run, data))
WRAP_SIZE(pwrite64, (int fd, const void *data, size_t n, off_t to), (fd, data, n, to))
WRAP_SIZE(readlink, (const char *path, char *text, size_t n), (path, text, n))
WRAP_SIZE(readlinkat, (int at, const char *path, char *text, size_t n), (at, path, text, n))
WRAP(void *, realloc, NULL, (void *data, size_t n), (data, n))
WRAP(char *, realpath, NULL, (const char *path, char *out), (path, out))
WRAP_SIZE(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
WRAP_INT(rename, (const char *from, const char *to), (from, to))
WRAP_INT(renameat, (int from_dir, const char *from, int to_dir, const char *to),
		(from_dir, from, to_dir, to))
WRAP_INT(rmdir, (const char *path), (path))
WRAP_INT(scandir64,
		(const char *path, struct dirent ***out, int (*filter)(const struct dirent *),
				int (*compare)(const struct dirent **, const struct dirent **)),
		(path, out, filter, compare))
#if FAULT_SIDE == 0 /* guests don't link libseccomp */
WRAP(scmp_filter_ctx, seccomp_init, NULL, (uint32_t action), (action))
#endif
WRAP_SIZE(sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
WRAP_INT(setgroups, (size_t n, const gid_t *groups), (n, groups))
WRAP_INT(sethostname, (const char *name, size_t n), (name, n))
WRAP_INT(setns, (int fd, int type), (fd, type))
WRAP_INT(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
WRAP_INT(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
WRAP_INT(setrlimit64, (int resource, const void *limit), (resource, limit))
WRAP(pid_t, setsid, -1, (void), ())
WRAP_INT(setxattr, (const char *path, const char *name, const void *value, size_t n, int flags),
		(path, name, value, n, flags))
WRAP_INT(shutdown, (int fd, int how), (fd, how))
WRAP_INT(signalfd, (int fd, const void *mask, int flags), (fd, mask, flags))
WRAP_INT(socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP_INT(socketpair, (int domain, int type, int protocol, int *pair),
		(domain, type, protocol, pair))
WRAP_INT(stat64, (const char *path, void *st), (path, st))
WRAP_INT(symlink, (const char *to, const char *path), (to, path))
WRAP_INT(symlinkat, (const char *to, int at, const char *path), (to, at, path))
WRAP_INT(timerfd_create, (int clock, int flags), (clock, flags))
WRAP_INT(umount2, (const char *path, int flags), (path, flags))
WRAP_INT(unlink, (const char *path), (path))
WRAP_INT(unlinkat, (int at, const char *path, int flags), (at, path, flags))
WRAP_INT(unshare, (int flags), (flags))
WRAP(pid_t, waitpid, -1, (pid_t pid, int *status, int options), (pid, status, options))

/* --- calls that may transfer fewer bytes than asked for --------------------------------------- */

#define WRAP_SHORT(name, data_type, parameters, arguments)                                         \
	ssize_t __real_##name parameters;                                                          \
	ssize_t __wrap_##name parameters;                                                          \
	ssize_t __wrap_##name parameters                                                           \
	{                                                                                          \
		enum fault_kind kind = fault_at(CALL_##name, __builtin_return_address(0));         \
                                                                                                   \
		if (kind == FAULT_SHORT && n > 1)                                                  \
			n /= 2;                                                                    \
		else if (kind != FAULT_NONE && kind != FAULT_SHORT)                                \
			return -1;                                                                 \
		return __real_##name arguments;                                                    \
	}

WRAP_SHORT(read, void, (int fd, void *data, size_t n), (fd, data, n))
WRAP_SHORT(recv, void, (int fd, void *data, size_t n, int flags), (fd, data, n, flags))
WRAP_SHORT(send, const void, (int fd, const void *data, size_t n, int flags), (fd, data, n, flags))
WRAP_SHORT(sendfile64, off_t, (int to, int from, off_t *at, size_t n), (to, from, at, n))
WRAP_SHORT(write, const void, (int fd, const void *data, size_t n), (fd, data, n))

/* --- calls with variable arguments ------------------------------------------------------------ */

#define LAST(type, after)                                                                          \
	({                                                                                         \
		va_list ap;                                                                        \
		type last;                                                                         \
                                                                                                   \
		va_start(ap, after);                                                               \
		last = va_arg(ap, type);                                                           \
		va_end(ap);                                                                        \
		last;                                                                              \
	})

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	return HIT(open64) ? -1 : __real_open64(path, flags, LAST(mode_t, flags));
}

int __real_openat64(int at, const char *path, int flags, ...);
int __wrap_openat64(int at, const char *path, int flags, ...);
int __wrap_openat64(int at, const char *path, int flags, ...)
{
	return HIT(openat64) ? -1 : __real_openat64(at, path, flags, LAST(mode_t, flags));
}

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
{
	return HIT(fcntl64) ? -1 : __real_fcntl64(fd, command, LAST(long, command));
}

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	return HIT(ioctl) ? -1 : __real_ioctl(fd, request, LAST(void *, request));
}

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
	unsigned long a[4];
	va_list ap;

	va_start(ap, option);
	for (size_t i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	return HIT(prctl) ? -1 : __real_prctl(option, a[0], a[1], a[2], a[3]);
}

/* Wraps syscall(), by which the code calls clone3, openat2, pivot_root, open_tree, seccomp and
 * others. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	/* A futex's wakeup can't fail, so no fault is injected into it. */
	if (number != SYS_futex && HIT(syscall)) {
		if (number != SYS_clone3) /* openat2 is retried forever on EAGAIN */
			errno = ENOMEM;
		return -1;
	}
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Functions of base/mem.h never return NULL, so their fault is injected into the calloc() that they
 * call. */
static _Thread_local bool no_memory;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

void *__real_xcalloc(size_t n, size_t size);

#define WRAP_MEMORY(type, name, parameters, arguments)                                             \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		no_memory = HIT(name);                                                             \
		if (no_memory)                                                                     \
			__real_xcalloc(1, 1);                                                      \
		return __real_##name arguments;                                                    \
	}

WRAP_MEMORY(void *, xcalloc, (size_t n, size_t size), (n, size))
WRAP_MEMORY(void *, xgrow, (void *items, size_t n, size_t size), (items, n, size))
WRAP_MEMORY(void *, xrealloc, (void *p, size_t n, size_t size), (p, n, size))
WRAP_MEMORY(char *, xstrdup, (const char *s), (s))
WRAP_MEMORY(char *, xstrndup, (const char *s, size_t n), (s, n))

char *__real_xasprintf(const char *format, ...);
char *__wrap_xasprintf(const char *format, ...);
char *__wrap_xasprintf(const char *format, ...)
{
	char *s = NULL;
	va_list ap;

	no_memory = HIT(xasprintf);
	if (no_memory)
		__real_xcalloc(1, 1);
	va_start(ap, format);
	if (vasprintf(&s, format, ap) < 0)
		abort();
	va_end(ap);
	return s;
}

/* --- the clock -------------------------------------------------------------------------------- */

int __real_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
	int r = __real_clock_gettime(id, out);

	if (r == 0 && id == CLOCK_REALTIME)
		out->tv_sec += fault_clock();
	return r;
}

time_t __real_time(time_t *out);
time_t __wrap_time(time_t *out);
time_t __wrap_time(time_t *out)
{
	time_t now = __real_time(NULL) + fault_clock();

	if (out)
		*out = now;
	return now;
}
