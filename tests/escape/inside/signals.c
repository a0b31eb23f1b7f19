/* SPDX-License-Identifier: Apache-2.0 */
/* Tries to signal or change the processes with given pids, in several ways. Prints `WAY:PID ERRNO`
 * for each. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static long kill_it(pid_t pid)
{
	return kill(pid, SIGKILL);
}

static long kill_its_group(pid_t pid)
{
	/* Not kill(-1), which would hit all processes. */
	return pid == 1 ? kill(1, SIGKILL) : kill(-pid, SIGKILL);
}

static long stop_it(pid_t pid)
{
	return kill(pid, SIGSTOP);
}

static long kill_its_thread(pid_t pid)
{
	return syscall(SYS_tgkill, pid, pid, SIGKILL);
}

static long queue(pid_t pid)
{
	return sigqueue(pid, SIGKILL, (union sigval){ 0 });
}

static long kill_by_descriptor(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? fd : syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

static long have_it_signalled(pid_t pid)
{
	int ends[2];

	if (pipe(ends) < 0 || fcntl(ends[0], F_SETSIG, SIGKILL) < 0)
		abort();
	return fcntl(ends[0], F_SETOWN, pid);
}

static long limit(pid_t pid)
{
	struct rlimit none = { 0, 0 };

	return prlimit(pid, RLIMIT_NOFILE, &none, NULL);
}

static long slow_down(pid_t pid)
{
	return setpriority(PRIO_PROCESS, (id_t)pid, 19);
}

static long idle(pid_t pid)
{
	struct sched_param none = { 0 };

	return sched_setscheduler(pid, SCHED_IDLE, &none);
}

static long pin(pid_t pid)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	return sched_setaffinity(pid, sizeof(first), &first);
}

static long slow_its_disk(pid_t pid)
{
	return syscall(SYS_ioprio_set, 1, pid, 3 << 13);
}

static long move_its_pages(pid_t pid)
{
	unsigned long node = 1;

	return syscall(SYS_migrate_pages, pid, 8, &node, &node);
}

static const struct {
	const char *name;
	long (*act)(pid_t pid);
} ways[] = {
	{ "kill", kill_it },
	{ "kill-group", kill_its_group },
	{ "stop", stop_it },
	{ "tgkill", kill_its_thread },
	{ "queue", queue },
	{ "pidfd", kill_by_descriptor },
	{ "owner", have_it_signalled },
	{ "limit", limit },
	{ "nice", slow_down },
	{ "idle", idle },
	{ "pin", pin },
	{ "io", slow_its_disk },
	{ "pages", move_its_pages },
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
			errno = 0;
			printf("%s:%s ", ways[w].name, argv[i]);
			if (ways[w].act((pid_t)strtol(argv[i], NULL, 10)) < 0)
				puts(strerrorname_np(errno));
			else
				puts("done");
			fflush(stdout);
		}
	return 0;
}
