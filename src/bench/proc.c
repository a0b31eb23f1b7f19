/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/proc.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Counts processes and memory by /proc. */

#define PROC_LIST_BYTES_MAX (1 << 20)
#define SETTLE_MS 300

/* Lists the children of a process with one thread, oldest first. Heap array. */
static size_t proc_children_of(pid_t pid, pid_t **out)
{
	auto_free char *path = xasprintf("/proc/%d/task/%d/children", pid, pid);
	auto_buf struct buf text = BUF_INIT(PROC_LIST_BYTES_MAX);
	size_t n = 0;
	char *at, *end;

	*out = NULL;
	if (fd_read_file(path, &text, NULL) < 0 || !text.len)
		return 0;
	for (at = text.data;; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at)
			return n;
		*out = xrealloc(*out, n + 1, sizeof(**out));
		(*out)[n++] = (pid_t)child;
	}
}

size_t proc_sandboxes(pid_t **out)
{
	auto_free pid_t *own = NULL;
	size_t n_own = proc_children_of(getpid(), &own), n_all, n = 0;

	*out = NULL;
	n_all = n_own ? proc_children_of(own[n_own - 1], out) : 0;
	for (size_t i = 0; i < n_all; i++) {
		auto_free char *path = xasprintf("/proc/%d/comm", (*out)[i]);
		auto_buf struct buf text = BUF_INIT(64);

		/* Count only the PIDs 1 of sandboxes. Other children of the process that makes
		 * sandboxes have other names: they wait for later sandboxes. */
		if (fd_read_file(path, &text, NULL) == 0 && str_eq(buf_str(&text), "init\n"))
			(*out)[n++] = (*out)[i];
	}
	return n;
}

/* Bytes in a line "NAME ... kB" of `text`; 0 if there is none. */
static double proc_kilobytes(const struct buf *text, const char *name)
{
	const char *at = buf_str(text);

	while (at && strncmp(at, name, strlen(name)) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at ? (double)strtoll(at + strlen(name), NULL, 10) * 1024 : 0;
}

/* Bytes of memory of a process and its descendants. A process that this user may not read counts as
 * `unknown` bytes. */
static double proc_memory_beneath(pid_t pid, double unknown)
{
	auto_free char *path = xasprintf("/proc/%d/smaps_rollup", pid);
	auto_buf struct buf text = BUF_INIT(PROC_LIST_BYTES_MAX);
	int r = fd_read_file(path, &text, NULL);
	auto_free pid_t *children = NULL;
	size_t n = proc_children_of(pid, &children);
	double bytes = r == -EACCES || r == -EPERM ? unknown : proc_kilobytes(&text, "Pss:");

	for (size_t i = 0; i < n; i++)
		bytes += proc_memory_beneath(children[i], unknown);
	return bytes;
}

double proc_memory_bytes(pid_t init)
{
	return proc_memory_beneath(init, NAN);
}

double proc_kernel_bytes(void)
{
	static const char *const parts[] = {
		"Slab:", "KernelStack:", "PageTables:", "Percpu:", "Shmem:"
	};
	auto_buf struct buf text = BUF_INIT(PROC_LIST_BYTES_MAX);
	double bytes = 0;

	fd_read_file("/proc/meminfo", &text, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		bytes += proc_kilobytes(&text, parts[i]);
	return bytes;
}

double proc_own_bytes(void)
{
	return proc_memory_beneath(getpid(), 0);
}

double proc_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	double n = -1; /* don't count the descriptor of `dir` */

	if (!dir)
		return NAN;
	for (const struct dirent *e = readdir(dir); e; e = readdir(dir))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

double proc_mounts(void)
{
	auto_free pid_t *own = NULL;
	size_t n_own = proc_children_of(getpid(), &own);
	auto_free char *path = xasprintf("/proc/%d/mountinfo", n_own ? own[n_own - 1] : 0);
	auto_buf struct buf text = BUF_INIT(PROC_LIST_BYTES_MAX);
	double n = 0;

	if (fd_read_file(path, &text, NULL) < 0)
		return NAN;
	for (const char *at = strchr(buf_str(&text), '\n'); at; at = strchr(at + 1, '\n'))
		n++;
	return n;
}

double proc_groups(void)
{
	auto_buf struct buf text = BUF_INIT(PROC_LIST_BYTES_MAX);
	char *at, *end;
	long groups;

	fd_read_file("/proc/cgroups", &text, NULL);
	at = text.len ? strstr(text.data, "\nmemory\t") : NULL;
	/* In /proc/cgroups, the number of the hierarchy comes first, then the number of groups. */
	at = at ? strchr(at + strlen("\nmemory\t"), '\t') : NULL;
	if (!at)
		return NAN;
	groups = strtol(at, &end, 10);
	return end == at ? NAN : (double)groups;
}

void proc_settle(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = SETTLE_MS * NS_PER_MS }, NULL);
}
