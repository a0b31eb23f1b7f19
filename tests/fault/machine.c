/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include "base/clock.h"
#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void machine_watch(void)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		abort();
}

/* Kills leftover processes, so that they don't count against the next trial. */
static void kill_children(void)
{
	char stat[PROCESS_STAT_MAX];
	DIR *proc = opendir("/proc");
	pid_t pid;

	while (proc && (pid = process_next(proc)))
		if (process_read_stat(pid, stat) && process_field(stat, PROCESS_PARENT) == getpid())
			kill(pid, SIGKILL);
	if (proc)
		closedir(proc);
}

int64_t machine_wait_until_gone(void)
{
	int64_t begun = clock_now_ns();
	pid_t pid;

	for (;;) {
		int64_t ms = (clock_now_ns() - begun) / NS_PER_MS;

		pid = waitpid(-1, NULL, WNOHANG | __WALL);
		if (pid < 0 && errno == ECHILD)
			return ms;
		if (pid == 0 && ms > GONE_MS) {
			kill_children();
			return -1;
		}
		if (pid == 0)
			nanosleep(&(struct timespec){ .tv_nsec = NS_PER_MS / 4 }, NULL);
	}
}

int machine_open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int remove_path(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return ftw->level > 0 ? remove(path) : 0;
}

void machine_remove_in(const char *folder)
{
	nftw(folder, remove_path, 16, FTW_PHYS | FTW_DEPTH);
}
