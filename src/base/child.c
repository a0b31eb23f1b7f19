/* SPDX-License-Identifier: Apache-2.0 */
#include "base/child.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Also waits for children that were cloned without a signal for their end. */
#define REAP_FLAGS (WEXITED | WNOHANG | __WALL)

int child_open(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	siginfo_t info;

	/* Refuse a process that is no child of this one. It has got the pid of a reaped child. */
	if (pidfd >= 0 && waitid(P_PIDFD, (id_t)pidfd, &info, REAP_FLAGS | WNOWAIT) < 0) {
		close(pidfd);
		return -1;
	}
	return pidfd;
}

bool child_await(int pidfd, int timeout_ms)
{
	int64_t deadline_ns = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * NS_PER_MS;
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int r;

	if (pidfd < 0)
		return true;
	while ((r = poll(&p, 1, clock_ms_left(deadline_ns))) < 0 && errno == EINTR)
		;
	return r > 0;
}

bool child_has_ended(int pidfd)
{
	return child_await(pidfd, 0);
}

enum child_end child_reap(int pidfd, int *out_status)
{
	siginfo_t info = { .si_pid = 0 };

	if (pidfd < 0 || waitid(P_PIDFD, (id_t)pidfd, &info, REAP_FLAGS) < 0)
		return CHILD_UNKNOWN;
	if (info.si_pid == 0)
		return CHILD_RUNS;
	if (info.si_code == CLD_EXITED && info.si_status == 0)
		return CHILD_DONE;
	if (out_status)
		*out_status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0)
							 : info.si_status;
	return CHILD_FAILED;
}

void child_kill(int pidfd)
{
	if (pidfd >= 0)
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}
