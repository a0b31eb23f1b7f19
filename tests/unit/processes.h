/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "base/clock.h"
#include "base/process.h"
#include "base/str.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Lists processes of this machine, also those in sandboxes, by reading /proc. */

#define PROCESSES_MAX 4096

/* Timeout in seconds for all that a test waits for. */
#define PATIENCE_S 120

static inline void wait_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 5 * NS_PER_MS }, NULL);
}

struct processes {
	pid_t list[PROCESSES_MAX];
	size_t n;
};

/* Returns the parent of `pid`, or -1 if `pid` is gone or a zombie. Writes the name of `pid` if
 * `name` is not NULL. */
static inline pid_t process_parent(pid_t pid, char *name, size_t size)
{
	char stat[PROCESS_STAT_MAX];
	const char *state;

	if (!process_read_stat(pid, stat))
		return -1;
	state = strrchr(stat, ')');
	if (!state || strncmp(state, ") Z", 3) == 0)
		return -1;
	if (name)
		process_name(stat, name, size);
	return (pid_t)process_field(stat, PROCESS_PARENT);
}

static inline bool process_has(const struct processes *p, pid_t pid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i] == pid)
			return true;
	return false;
}

/* Lists all descendants of `root`, without `root` itself. Parents come before their children. */
static inline void process_descendants(pid_t root, struct processes *out)
{
	size_t before;

	out->list[0] = root;
	out->n = 1;
	do {
		DIR *proc = opendir("/proc");
		pid_t pid;

		before = out->n;
		while (proc && (pid = process_next(proc)))
			if (out->n < PROCESSES_MAX && !process_has(out, pid) &&
					process_has(out, process_parent(pid, NULL, 0)))
				out->list[out->n++] = pid;
		if (proc)
			closedir(proc);
	} while (out->n != before);
	out->n--;
	memmove(out->list, out->list + 1, out->n * sizeof(out->list[0]));
}

/* Returns the first listed process with this name, or 0 if there is none. */
static inline pid_t process_named(const struct processes *p, const char *name)
{
	char own[64];

	for (size_t i = 0; i < p->n; i++)
		if (process_parent(p->list[i], own, sizeof(own)) > 0 && str_eq(own, name))
			return p->list[i];
	return 0;
}

/* Waits until a descendant of this process has the name, which processes set some time after their
 * start. */
static inline pid_t process_await(const char *name)
{
	static struct processes all;
	int64_t deadline = clock_now_ns() + PATIENCE_S * NS_PER_S;
	pid_t pid;

	do {
		wait_a_little();
		process_descendants(getpid(), &all);
		pid = process_named(&all, name);
	} while (!pid && clock_now_ns() < deadline);
	return pid;
}

/* Waits until no descendant of this process has the name. The processes of a closed sandbox end a
 * little later than the close. A test must not take them for those of its own sandbox. */
static inline void process_await_none(const char *name)
{
	static struct processes all;
	int64_t deadline = clock_now_ns() + PATIENCE_S * NS_PER_S;

	do {
		process_descendants(getpid(), &all);
	} while (process_named(&all, name) && clock_now_ns() < deadline);
}

#endif
