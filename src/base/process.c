/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

pid_t process_next(DIR *proc)
{
	const struct dirent *e;
	int64_t pid;

	while ((e = readdir(proc)))
		if (str_to_i64(e->d_name, &pid))
			return (pid_t)pid;
	return 0;
}

bool process_read_stat(pid_t pid, char out[PROCESS_STAT_MAX])
{
	char path[64];
	auto_close int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, out, PROCESS_STAT_MAX - 1);
	if (n <= 0)
		return false;
	out[n] = '\0';
	return true;
}

int64_t process_field(const char *stat, enum process_field field)
{
	/* a process's name may hold any byte, so find the last ')' */
	const char *at = strrchr(stat, ')');
	char *end;
	int64_t value;

	for (unsigned i = 2; at && i < field; i++) /* the name is field 2 of /proc/PID/stat */
		at = strchr(at + 1, ' ');
	if (!at)
		return -1;
	value = strtoll(at, &end, 10);
	return end == at ? -1 : value;
}

void process_name(const char *stat, char *out, size_t size)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	int n = open && close > open ? (int)(close - open - 1) : 0;

	snprintf(out, size, "%.*s", n, n ? open + 1 : "");
}

bool process_has_ended(const char *stat)
{
	const char *at = strrchr(stat, ')');

	return !at || strlen(at) < 3 || at[2] == 'Z' || at[2] == 'X';
}

int64_t process_start_time(pid_t pid)
{
	char stat[PROCESS_STAT_MAX];

	return process_read_stat(pid, stat) ? process_field(stat, PROCESS_START) : -1;
}

char *process_own_name(const char *prefix)
{
	static atomic_uint names;
	int64_t start = process_start_time(getpid());

	/* Without /proc the start time is written as 0, which no process has. Then only the flock
	 * of process_claim() protects the folder. */
	return xasprintf("%s-%u-%d-%lld", prefix, atomic_fetch_add(&names, 1), (int)getpid(),
			(long long)(start < 0 ? 0 : start));
}

static int process_open_folder(const char *folder)
{
	return open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Locks the folder by flock(2). The lock is shared, so that a folder can be locked
 * several times. */
int process_claim(const char *folder)
{
	auto_close int fd = process_open_folder(folder);

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_SH) < 0)
		if (errno != EINTR)
			return -errno;
	return take_fd(&fd);
}

static bool process_is_claimed(const char *folder)
{
	auto_close int fd = process_open_folder(folder);

	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0;
}

/* True if the process with this pid and start time has ended. If /proc can't be read (too many open
 * files, say), asks kill(2). */
static bool process_is_gone(pid_t pid, int64_t start_ticks)
{
	int64_t now = process_start_time(pid);

	return now < 0 ? kill(pid, 0) < 0 && errno == ESRCH : now != start_ticks;
}

bool process_folder_is_stale(const char *folder)
{
	const char *name = path_basename(folder), *start = strrchr(name, '-');
	const char *pid = start ? memrchr(name, '-', (size_t)(start - name)) : NULL;
	auto_free char *digits = pid ? xstrndup(pid + 1, (size_t)(start - pid - 1)) : NULL;
	int64_t number, ticks;

	return digits && str_to_i64(digits, &number) && str_to_i64(start + 1, &ticks) &&
			process_is_gone((pid_t)number, ticks) && !process_is_claimed(folder);
}
