/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/process.h"
#include "guest/guest.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

/*
 * A process began during a step if its start time is after the step's, or in the same clock tick and
 * its pid is newer. Start times alone are too coarse (10 ms: `job &` and a hang right after it), pids
 * alone wrap.
 */

static bool born_since(pid_t pid, const struct shell_mark *mark)
{
	int64_t start = process_start_time(pid);
	int64_t step = mark->began_ns / (1000000000 / sysconf(_SC_CLK_TCK));

	return start > step || (start == step && pid > mark->last_pid);
}

int interrupt_born_since(
		const struct shell_mark *mark, pid_t shell, pid_t porter, int signal_number)
{
	DIR *proc = opendir("/proc");
	int count = 0;
	pid_t pid;

	if (!proc)
		return -errno;
	while ((pid = process_next(proc))) {
		if (pid == 1 || pid == shell || pid == porter || !born_since(pid, mark))
			continue;
		if (kill(pid, signal_number) == 0)
			count++;
	}
	closedir(proc);
	return count;
}
