/* SPDX-License-Identifier: Apache-2.0 */
#include "base/namespace.h"

#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks without an exit signal: the caller may have a handler that counts children. */
static pid_t namespace_clone(void)
{
	struct clone_args args = { 0 };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static int namespace_await(pid_t pid, int *out_status)
{
	while (waitpid(pid, out_status, __WALL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* Joins a namespace by its file in /proc: the pidfd of a process that ends names none. */
static int namespace_enter(int proc, const char *name)
{
	auto_close int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 || setns(fd, 0) < 0 ? -errno : 0;
}

/* A process can't join a pid namespace itself, but its children are born there. */
static int namespace_kill(int proc)
{
	int r = namespace_enter(proc, "ns/user"); /* needed to join the pid namespace and kill */
	int status;
	pid_t pid;

	if (r < 0)
		return r;
	r = namespace_enter(proc, "ns/pid");
	if (r < 0)
		return r;
	pid = namespace_clone();
	if (pid == 0) {
		kill(-1, SIGKILL);
		_exit(0);
	}
	if (pid < 0) /* ENOMEM: the kernel kills them already */
		return errno == ENOMEM ? 0 : -errno;
	return namespace_await(pid, &status); /* killed or not: PID 1 may end before it does */
}

int namespace_end(int proc)
{
	int r, status;
	pid_t pid;

	if (syscall(SYS_pidfd_send_signal, proc, SIGKILL, NULL, 0) < 0)
		return -errno;
	pid = namespace_clone();
	if (pid == 0)
		_exit(-namespace_kill(proc));
	if (pid < 0)
		return -errno;
	r = namespace_await(pid, &status);
	if (r < 0)
		return r;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}
