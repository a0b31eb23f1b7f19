/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_RUN_DIR_H
#define TRAJECTORY_RUN_DIR_H

#include "base/error.h"
#include "python/pyjson.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The folder of one run, named as MLGym names it:
 *
 *   <out>/<model>__<task>__<agent config>__t-<temperature>__p-<top_p>__c-<cost limit>__install-0
 *        [__<suffix>]_run_<number>/
 *
 * In the parts of the name ":", "/" and "\" become "-", as do blanks and control characters.
 */
struct run_name {
	const char *model;
	const char *task;         /* task and variant in the name: "titanic:micro" */
	const char *agent_config; /* name of the agent's configuration; NULL: "default" */
	double temperature, top_p, cost_limit;
	const char *suffix; /* last part of the folder's name; NULL or "": no suffix */
};

/* Initial value of a struct run_name, with the numbers that a run without a language model has. */
#define RUN_NAME_INIT                                                                              \
	{                                                                                          \
		.temperature = 0, .top_p = 0.95, .cost_limit = 3                                   \
	}

/* Returns the default parent folder of runs, a heap string: "trajectories/<user>". */
char *run_dir_default(void);

/* Returns a copy of a text for use in a file name, on the heap. Characters that don't fit become
 * "-". */
char *run_dir_part(const char *text);

/* Makes a folder for a run in `out`, and missing parents. The folder gets the lowest free
 * number. Runs that start at the same time get different folders. *out_path is on the heap. */
int run_dir_make(const char *out, const struct run_name *name, char **out_path, int *out_number,
		struct fh_error *err);

/*
 * Returns the path of the run's folder with this number, a heap string. The folder need not exist.
 */
char *run_dir_path(const char *out, const struct run_name *name, int number);

/* Lists the numbers of existing run folders of this name, sorted. Returns how many. *out_numbers is
 * on the heap. */
size_t run_dir_numbers(const char *out, const struct run_name *name, int **out_numbers);

/* Returns the path of a new log file, a heap string: "<dir>/run-<YYYYmmddTHHMMSS>.log" with the
 * current time in UTC. */
char *run_dir_log(const char *dir);

/*
 * Returns the file name of a task's .traj, a heap string: "<task>.traj", or
 * "<task>-<variant>.traj".
 */
char *run_dir_traj_name(const char *task, const char *variant);

/*
 * Returns the name of the .traj of a policy that is being trained: "<task>_pi<step>_<time>.traj".
 * `time` is that of an event, "2026-01-31T12:00:00.123Z", and becomes "20260131_120000".
 */
char *run_dir_policy_traj_name(
		const char *task, const char *variant, int64_t policy_step, const char *time);

/* Returns the file name of the .traj for a record's event `open`, a heap string. */
char *run_dir_recorded_traj_name(const struct pyjson *open);

#endif
