/* SPDX-License-Identifier: Apache-2.0 */
#include "native/cgroup_file.h"

#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Functions that read and write numbers in files of control groups. */

#define CPU_QUOTA_MIN_US 1000

int64_t cgroup_cpu_quota_us(double cpus)
{
	int64_t quota = (int64_t)(cpus * CGROUP_CPU_PERIOD_US);

	return quota < CPU_QUOTA_MIN_US ? CPU_QUOTA_MIN_US : quota;
}

int cgroup_write(const char *folder, const char *file, const char *text)
{
	auto_free char *path = xasprintf("%s/%s", folder, file);
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -errno;
	return 0;
}

int cgroup_write_number(const char *folder, const char *file, int64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	return cgroup_write(folder, file, text);
}

/*
 * Reads the number after the text `key` in an open file of a control group. If `key` is "", reads
 * the first number.
 */
int64_t cgroup_read_number(int fd, const char *key)
{
	char text[2048];
	const char *at = text;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	if (*key) {
		at = strstr(text, key);
		if (!at)
			return -1;
		at += strlen(key);
	}
	return strtoll(at, NULL, 10);
}
