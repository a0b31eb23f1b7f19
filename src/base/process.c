/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include "base/scope.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAT_START_FIELD 22 /* proc(5), counted from 1 */

int64_t process_start_of(const char *stat)
{
	const char *at = strrchr(stat, ')'); /* the name before it may hold anything */
	char *end;
	int64_t ticks;

	for (int field = 2; at && field < STAT_START_FIELD; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -1;
	ticks = strtoll(at, &end, 10);
	return end == at ? -1 : ticks;
}

int64_t process_start_time(pid_t pid)
{
	char path[64], stat[1024];
	auto_close int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);
	if (n <= 0)
		return -1;
	stat[n] = '\0';
	return process_start_of(stat);
}
