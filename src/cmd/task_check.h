/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_TASK_CHECK_H
#define CMD_TASK_CHECK_H

#include "base/json.h"
#include "cmd/task.h"

/* Parts of `fumehood task check`. A report is the JSON object of one task, which docs/json.md
 * describes. */

struct check_options {
	struct task_options task;
	bool run, all;
	const char *python, *variant;
	uint64_t data_seed;
	int jobs, seeds;
};

/* Prints the report of one task for people. */
void task_check_print_text(const json_t *report);

/* Prints the reports of several tasks as a table, and then the problems of tasks that failed. */
void task_check_print_table(json_t *const *reports, size_t n);

/* Checks the tasks, each in a process of its own that runs `task check --run --json T`. Prints the
 * reports. Returns the exit status. With --all, checks each variant of each task that can run here.
 * With --variant too, checks only variants of that name. `python`: the folder of an environment;
 * NULL: this machine's Python. */
int task_check_many(
		struct command_context *ctx, const struct task_places *places, const char *python);

#endif
