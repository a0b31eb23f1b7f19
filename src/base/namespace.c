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

/* Forks a child that sends no signal when it ends. A SIGCHLD handler of the caller might count
 * children. */
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
	if (pid < 0) /* ENOMEM: PID 1 is gone, and the kernel is killing the namespace */
		return errno == ENOMEM ? 0 : -errno;
	/* if PID 1 ends first, the kernel kills this child too */
	return namespace_await(pid, &status);
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
