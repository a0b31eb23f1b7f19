/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sandbox_ps.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/scope.h"
#include "base/str.h"
#include "native/leftovers.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * fumehood sandbox ps: finds sandboxes in /proc, because a registry could be wrong. A nursery is a
 * process that makes sandboxes for its parent, the owner. The children of a nursery are the PIDs 1
 * of sandboxes.
 */

#define NURSERY_NAME "fh-nursery"
#define PROCESSES_MAX (1 << 22)

struct process {
	pid_t pid, parent;
	char name[32];
	int64_t start_ticks, rss_bytes;
};

struct ps_table {
	struct process *list;
	size_t n;
	pid_t *leftovers;
	size_t n_leftovers;
};

static bool ps_read_process(pid_t pid, struct process *out)
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

static void ps_read_table(struct ps_table *t)
{
	DIR *proc = opendir("/proc");
	struct process p;
	pid_t pid;

	while (proc && t->n < PROCESSES_MAX && (pid = process_next(proc))) {
		if (!ps_read_process(pid, &p))
			continue;
		t->list = xgrow(t->list, t->n, sizeof(*t->list));
		t->list[t->n++] = p;
	}
	if (proc)
		closedir(proc);
}

static const struct process *ps_find(const struct ps_table *t, pid_t pid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].pid == pid)
			return &t->list[i];
	return NULL;
}

/* Counts the processes of a sandbox and their memory: `root` and all descendants. Orphans in a
 * sandbox are children of its PID 1. */
static void ps_add_up(const struct ps_table *t, pid_t root, int *out_count, int64_t *out_bytes)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct process *p = &t->list[i];

		if (p->pid == root) {
			(*out_count)++;
			*out_bytes += p->rss_bytes;
		} else if (p->parent == root && p->pid != root) {
			ps_add_up(t, p->pid, out_count, out_bytes);
		}
	}
}

static bool ps_is_leftover(const struct ps_table *t, pid_t pid)
{
	for (size_t i = 0; i < t->n_leftovers; i++)
		if (t->leftovers[i] == pid)
			return true;
	return false;
}

/* Describes a sandbox as JSON. `owner` is its owner's PID, or 0 if the owner has died. */
static json_t *ps_describe(const struct ps_table *t, const struct process *sandbox, pid_t owner)
{
	const struct process *command = ps_find(t, owner);
	int64_t bytes = 0;
	int count = 0;

	ps_add_up(t, sandbox->pid, &count, &bytes);
	return json_pack("{s:i, s:i, s:s, s:f, s:i, s:I}", "pid", (int)sandbox->pid, "owner",
			(int)owner, "command", command ? command->name : "", "age_s",
			(double)clock_ns(CLOCK_BOOTTIME) / NS_PER_S -
					(double)sandbox->start_ticks / (double)sysconf(_SC_CLK_TCK),
			"processes", count, "memory_bytes", (json_int_t)bytes);
}

static json_t *ps_list_sandboxes(const struct ps_table *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n; i++) {
		const struct process *p = &t->list[i], *nursery = ps_find(t, p->parent);

		if (ps_is_leftover(t, p->pid))
			json_array_append_new(list, ps_describe(t, p, 0));
		else if (nursery && str_eq(nursery->name, NURSERY_NAME) && p->rss_bytes)
			json_array_append_new(list, ps_describe(t, p, nursery->parent));
	}
	return list;
}

static void ps_print_item(const json_t *item)
{
	long long owner = json_integer_value(json_object_get(item, "owner"));
	char number[24];

	snprintf(number, sizeof(number), "%lld", owner);
	printf("%8lld %8s %-16s %8.0fs %5lld %8.1fMB\n",
			(long long)json_integer_value(json_object_get(item, "pid")),
			owner ? number : "gone",
			json_string_value(json_object_get(item, "command")),
			json_number_value(json_object_get(item, "age_s")),
			(long long)json_integer_value(json_object_get(item, "processes")),
			json_number_value(json_object_get(item, "memory_bytes")) / 1e6);
}

static int sandbox_ps_main(struct command_context *ctx)
{
	struct ps_table table = { 0 };
	json_t *list, *item;
	size_t i;

	ps_read_table(&table);
	table.n_leftovers = leftovers_find(&table.leftovers);
	list = ps_list_sandboxes(&table);
	if (!ctx->json)
		printf("%8s %8s %-16s %9s %5s %10s\n", "PID", "OWNER", "COMMAND", "AGE", "PROCS",
				"MEMORY");
	json_array_foreach(list, i, item) {
		if (ctx->json)
			cmd_print_json(item);
		else
			ps_print_item(item);
	}
	json_decref(list);
	free(table.list);
	free(table.leftovers);
	return CMD_OK;
}

const struct command command_sandbox_ps = {
	.name = "ps",
	.summary = "list the sandboxes on this machine",
	.about = "A line for each sandbox: its PID 1 on this machine, its owner, its age, its processes and "
		 "memory. `gone` means that the owner ended and the sandbox did not (with --json owner is "
		 "0). `fumehood sandbox gc` ends it.",
	.run = sandbox_ps_main,
};
