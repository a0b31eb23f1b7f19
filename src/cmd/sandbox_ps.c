/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sandbox_ps.h"

#include "base/json.h"
#include "base/scope.h"
#include "native/census.h"

#include <stdio.h>

/* fumehood sandbox ps: lists the sandboxes on this machine. */

static void ps_print_json(const struct census_row *row)
{
	auto_json json_t *line = json_pack("{s:i, s:i, s:s, s:f, s:i, s:I}", "pid", (int)row->pid,
			"owner", (int)row->owner, "command", row->command, "age_s", row->age_s,
			"processes", row->processes, "memory_bytes", (json_int_t)row->memory_bytes);

	cmd_print_json(line);
}

static void ps_print_row(const struct census_row *row)
{
	char owner[16] = "gone";

	if (row->owner)
		snprintf(owner, sizeof(owner), "%d", (int)row->owner);
	printf("%8d %8s %-16s %8.0fs %5d %8.1fMB\n", (int)row->pid, owner, row->command, row->age_s,
			row->processes, (double)row->memory_bytes / 1e6);
}

static int ps_main(struct command_context *ctx)
{
	auto_free struct census_row *rows = NULL;
	size_t n = census_take(&rows);

	if (!ctx->json)
		printf("%8s %8s %-16s %9s %5s %10s\n", "PID", "OWNER", "COMMAND", "AGE", "PROCS",
				"MEMORY");
	for (size_t i = 0; i < n; i++)
		(ctx->json ? ps_print_json : ps_print_row)(&rows[i]);
	return CMD_OK;
}

const struct command command_sandbox_ps = {
	.name = "ps",
	.summary = "list the sandboxes on this machine",
	.about = "A line for each sandbox: its PID 1 on this machine, its owner, its age, its processes and "
		 "memory. `gone` means that the owner ended and the sandbox did not (with --json owner is "
		 "0). `fumehood sandbox gc` ends it.",
	.run = ps_main,
};
