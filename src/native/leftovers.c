/* SPDX-License-Identifier: Apache-2.0 */
#include "native/leftovers.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/namespace.h"
#include "base/process.h"
#include "base/scope.h"
#include "base/str.h"
#include "proto/guest.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INIT_NAME "init"
#define PF_EXITING 4 /* the kernel's flag of a process that is ending */
/* milliseconds after which to look again: a PID 1 that was just ending has ended by then */
#define LOOK_AGAIN_MS 300
#define TRY_AGAIN_MS 100
#define LEFTOVERS_END_MS 3000
#define TEXT_MAX 4096
#define LEFTOVERS_DEPTH_MAX 32 /* the kernel's limit of nested pid namespaces */

/*
 * Returns the value of a line "name:\t..." in the text of a file of /proc. NULL: there is no such
 * line.
 */
static const char *leftovers_line(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	while (at && at != text && at[-1] != '\n')
		at = strstr(at + 1, name);
	return at ? at + strlen(name) : NULL;
}

static bool leftovers_read_text(int at, const char *path, struct buf *out)
{
	auto_close int fd = openat(at, path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && fd_read_all(fd, out) == 0;
}

/* Reads numbers from a text up to the end of the line into `out`, `most` at most. Returns how
 * many. */
static size_t leftovers_read_numbers(const char *at, long *out, size_t most)
{
	size_t n = 0;
	char *end;

	for (; at && n < most && *at != '\n'; at = end) {
		long number = strtol(at, &end, 10);

		if (end == at)
			break;
		out[n++] = number;
	}
	return n;
}

/*
 * Returns true if a process' ids are mapped as in Fumehood's sandboxes. Only these map GUEST_IDS
 * ids: container engines map 65536 or all.
 */
static bool leftovers_has_our_ids(int proc)
{
	auto_buf struct buf text = BUF_INIT(TEXT_MAX);
	/* a line of uid_map: first id in the user namespace, first id outside, number of ids */
	long map[3];

	return leftovers_read_text(proc, "uid_map", &text) &&
			leftovers_read_numbers(buf_str(&text), map, 3) == 3 && map[0] == 0 &&
			map[2] == GUEST_IDS;
}

/*
 * Returns the number of pid namespaces that a process is in, each within the one before. 0: the
 * process is not a sandbox' PID 1.
 */
static size_t leftovers_depth(int proc, const char *stat)
{
	auto_buf struct buf text = BUF_INIT(TEXT_MAX);
	char name[32];
	long pids[LEFTOVERS_DEPTH_MAX]; /* pid in each of its pid namespaces, innermost last */
	size_t depth;

	process_name(stat, name, sizeof(name));
	if (!str_eq(name, INIT_NAME) || process_has_ended(stat) || !leftovers_has_our_ids(proc) ||
			!leftovers_read_text(proc, "status", &text))
		return 0;
	depth = leftovers_read_numbers(
			leftovers_line(buf_str(&text), "NSpid:"), pids, LEFTOVERS_DEPTH_MAX);
	return depth > 1 && pids[depth - 1] == 1 ? depth : 0;
}

/*
 * Returns true if this descriptor of a sandbox' PID 1 is a pidfd of its owner, which still runs. If
 * the pidfd's process is outside of the sandbox, it is the owner.
 */
static bool leftovers_names_owner(int fdinfo, const char *name, size_t depth)
{
	auto_buf struct buf text = BUF_INIT(TEXT_MAX);
	char stat[PROCESS_STAT_MAX];
	long pid, pids[LEFTOVERS_DEPTH_MAX];

	if (!leftovers_read_text(fdinfo, name, &text) ||
			leftovers_read_numbers(leftovers_line(buf_str(&text), "Pid:"), &pid, 1) <
					1 ||
			pid < 0)
		return false;
	/* the pidfd's process is in a pid namespace that this process can't see, so it is the
	 * owner */
	if (pid == 0)
		return true;
	if (leftovers_read_numbers(leftovers_line(buf_str(&text), "NSpid:"), pids,
			    LEFTOVERS_DEPTH_MAX) >= depth)
		return false;
	return process_read_stat((pid_t)pid, stat) && !process_has_ended(stat);
}

static bool leftovers_has_owner(int proc, size_t depth)
{
	int fd = openat(proc, "fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	/* The descriptors can't be read: assume that the process has an owner. */
	bool found = !dir;

	while (dir && !found && (e = readdir(dir)))
		found = e->d_name[0] != '.' && leftovers_names_owner(fd, e->d_name, depth);
	if (dir)
		closedir(dir);
	return found;
}

/* Opens /proc/PID if the process is a sandbox' PID 1 that runs without an owner. Returns -1
 * otherwise. */
static int leftovers_open(pid_t pid)
{
	char path[32], stat[PROCESS_STAT_MAX];
	auto_close int proc = -1;
	size_t depth;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 || !process_read_stat(pid, stat))
		return -1;
	depth = leftovers_depth(proc, stat);
	if (!depth || faccessat(proc, "ns/pid", F_OK, 0) < 0)
		return -1;
	/*
	 * Don't ask an ending PID 1 for its owner: it may have closed its descriptors and still
	 * hang.
	 */
	if (!(process_field(stat, PROCESS_FLAGS) & PF_EXITING) && leftovers_has_owner(proc, depth))
		return -1;
	return take_fd(&proc);
}

static bool leftovers_is(pid_t pid)
{
	auto_close int proc = leftovers_open(pid);

	return proc >= 0;
}

static size_t leftovers_look(pid_t **out)
{
	DIR *proc = opendir("/proc");
	pid_t *list = NULL;
	size_t n = 0;
	pid_t pid;

	while (proc && (pid = process_next(proc))) {
		if (!leftovers_is(pid))
			continue;
		list = xrealloc(list, n + 1, sizeof(*list));
		list[n++] = pid;
	}
	if (proc)
		closedir(proc);
	*out = list;
	return n;
}

static size_t leftovers_keep(pid_t *list, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (leftovers_is(list[i]))
			list[kept++] = list[i];
	return kept;
}

static void leftovers_pause_ms(int64_t ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * NS_PER_MS }, NULL);
}

size_t leftovers_find(pid_t **out)
{
	size_t n = leftovers_look(out);

	if (n)
		leftovers_pause_ms(LOOK_AGAIN_MS);
	return leftovers_keep(*out, n);
}

size_t leftovers_end(size_t *out_left)
{
	int64_t deadline = clock_now_ns() + LEFTOVERS_END_MS * NS_PER_MS;
	auto_free pid_t *list = NULL;
	size_t n = leftovers_find(&list), left = n;

	while (left && clock_now_ns() < deadline) {
		for (size_t i = 0; i < left; i++) {
			auto_close int proc = leftovers_open(list[i]);

			if (proc >= 0)
				namespace_end(proc);
		}
		leftovers_pause_ms(TRY_AGAIN_MS);
		left = leftovers_keep(list, left);
	}
	*out_left = left;
	return n - left;
}
