/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_EXPORT_RUNS_H
#define CMD_EXPORT_RUNS_H

#include "cli/command.h"

/* `fumehood export` of many runs: logs for inspect, conversations, and tables of steps. */

enum export_format { EXPORT_TRAJ, EXPORT_INSPECT, EXPORT_CHAT, EXPORT_STEPS, EXPORT_CSV };

struct export_options {
	int format; /* enum export_format */
	const char *out, *tasks_dir;
	struct texts models, tasks;
	bool improved;
};

/* Writes all runs beneath the folders in a format other than EXPORT_TRAJ. Returns the exit
 * status. */
int export_runs(struct command_context *ctx);

#endif
