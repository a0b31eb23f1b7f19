/* SPDX-License-Identifier: Apache-2.0 */
#include "base/namespace.h"

#include "base/child.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks a child that sends no signal when it ends. A SIGCHLD handler of the caller might count
 * children. */
static pid_t namespace_clone(int *out_pidfd)
{
	struct clone_args args = { .flags = CLONE_PIDFD, .pidfd = (uintptr_t)out_pidfd };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* Waits for the end of a child. Returns its exit status as a negative errno. */
static int namespace_await(int pidfd)
{
	int status = 0;

	child_await(pidfd, -1);
	if (child_reap(pidfd, &status) != CHILD_FAILED)
		return 0;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

/* Joins a namespace by its file in /proc/PID/ns. A pidfd does not work here once the process is
 * ending. */
static int namespace_enter(int proc, const char *name)
{
	auto_close int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 || setns(fd, 0) < 0 ? -errno : 0;
}

/* Kills all processes of a pid namespace from a child process. setns() puts only later children
 * into a pid namespace, not its caller. */
static int namespace_kill(int proc)
{
	/* joining the user namespace gives the right to join the pid namespace and to kill in it */
	int r = namespace_enter(proc, "ns/user");
	auto_close int pidfd = -1;
	pid_t pid;

	if (r < 0)
		return r;
	r = namespace_enter(proc, "ns/pid");
	if (r < 0)
		return r;
	pid = namespace_clone(&pidfd);
	if (pid == 0) {
		kill(-1, SIGKILL);
		_exit(0);
	}
	if (pid < 0) /* ENOMEM: PID 1 is gone, and the kernel is killing the namespace */
		return errno == ENOMEM ? 0 : -errno;
	/* if PID 1 ends first, the kernel kills this child too */
	namespace_await(pidfd);
	return 0;
}

int namespace_end(int proc)
{
	auto_close int pidfd = -1;
	pid_t pid;

	if (syscall(SYS_pidfd_send_signal, proc, SIGKILL, NULL, 0) < 0)
		return -errno;
	pid = namespace_clone(&pidfd);
	if (pid == 0)
		_exit(-namespace_kill(proc));
	return pid < 0 ? -errno : namespace_await(pidfd);
}
