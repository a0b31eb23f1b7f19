/* SPDX-License-Identifier: Apache-2.0 */
#include "native/census.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/scope.h"
#include "base/str.h"
#include "native/leftovers.h"
#include "proto/guest.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Finds sandboxes in /proc, because a registry could be wrong. A nursery is a process that makes
 * sandboxes for its parent, the owner. The children of a nursery are the PIDs 1 of sandboxes.
 */

#define PROCESSES_MAX (1 << 22)

struct census_process {
	pid_t pid, parent;
	char name[32];
	int64_t start_ticks, rss_bytes;
};

struct census {
	struct census_process *list;
	size_t n;
	pid_t *leftovers;
	size_t n_leftovers;
};

static bool census_read_process(pid_t pid, struct census_process *out)
{
	char stat[PROCESS_STAT_MAX];

	if (!process_read_stat(pid, stat))
		return false;
	process_name(stat, out->name, sizeof(out->name));
	out->pid = pid;
	out->parent = (pid_t)process_field(stat, PROCESS_PARENT);
	out->start_ticks = process_field(stat, PROCESS_START);
	out->rss_bytes = process_field(stat, PROCESS_RESIDENT_PAGES) * sysconf(_SC_PAGESIZE);
	return true;
}

static void census_read_table(struct census *t)
{
	DIR *proc = opendir("/proc");
	struct census_process p;
	pid_t pid;

	while (proc && t->n < PROCESSES_MAX && (pid = process_next(proc))) {
		if (!census_read_process(pid, &p))
			continue;
		t->list = xgrow(t->list, t->n, sizeof(*t->list));
		t->list[t->n++] = p;
	}
	if (proc)
		closedir(proc);
}

static const struct census_process *census_find(const struct census *t, pid_t pid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].pid == pid)
			return &t->list[i];
	return NULL;
}

/* Counts the processes of a sandbox and their memory: `root` and all descendants. Orphans in a
 * sandbox are children of its PID 1. */
static void census_add_up(const struct census *t, pid_t root, int *out_count, int64_t *out_bytes)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct census_process *p = &t->list[i];

		if (p->pid == root) {
			(*out_count)++;
			*out_bytes += p->rss_bytes;
		} else if (p->parent == root && p->pid != root) {
			census_add_up(t, p->pid, out_count, out_bytes);
		}
	}
}

static bool census_is_leftover(const struct census *t, pid_t pid)
{
	for (size_t i = 0; i < t->n_leftovers; i++)
		if (t->leftovers[i] == pid)
			return true;
	return false;
}

/* Describes a sandbox. `owner` is its owner's PID, or 0 if the owner has died. */
static struct census_row census_describe(
		const struct census *t, const struct census_process *sandbox, pid_t owner)
{
	const struct census_process *command = census_find(t, owner);
	struct census_row row = { .pid = sandbox->pid,
		.owner = owner,
		.age_s = (double)clock_ns(CLOCK_BOOTTIME) / NS_PER_S -
				(double)sandbox->start_ticks / (double)sysconf(_SC_CLK_TCK) };

	if (command)
		memcpy(row.command, command->name, sizeof(row.command));
	census_add_up(t, sandbox->pid, &row.processes, &row.memory_bytes);
	return row;
}

size_t census_take(struct census_row **out)
{
	struct census t = { 0 };
	struct census_row *rows = NULL;
	size_t n = 0;

	census_read_table(&t);
	t.n_leftovers = leftovers_find(&t.leftovers);
	for (size_t i = 0; i < t.n; i++) {
		const struct census_process *p = &t.list[i], *nursery = census_find(&t, p->parent);
		bool left = census_is_leftover(&t, p->pid);

		if (!left && (!nursery || !str_eq(nursery->name, NURSERY_NAME) || !p->rss_bytes))
			continue;
		rows = xgrow(rows, n, sizeof(*rows));
		rows[n++] = census_describe(&t, p, left ? 0 : nursery->parent);
	}
	free(t.list);
	free(t.leftovers);
	*out = rows;
	return n;
}
