/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_RUN_DIR_H
#define TRAJECTORY_RUN_DIR_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The folder of one run, named as MLGym names it:
 *
 *   <out>/<model>__<task>__<agent config>__t-<temperature>__p-<top_p>__c-<cost limit>__install-0
 *        [__<suffix>]_run_<number>/
 *
 * ":" and "/" in its parts become "-", as do blanks and control characters.
 */
struct run_name {
	const char *model;
	const char *task;         /* "titanic:micro" */
	const char *agent_config; /* stem of its file; NULL: "default" */
	double temperature, top_p, cost_limit;
	const char *suffix; /* NULL or "": none */
};

/* For runs without a language model. */
#define RUN_NAME_INIT                                                                              \
	{                                                                                          \
		.temperature = 0, .top_p = 0.95, .cost_limit = 3                                   \
	}

/* "trajectories/<user>", the default folder of runs. Heap. */
char *run_dir_default(void);

/* Makes a part of a file name: other characters become "-". Heap. */
char *run_dir_part(const char *text);

/* Makes the folder with the least free number, and `out` with its parents. Concurrent runs get
 * different folders. *out_path is on the heap. */
int run_dir_make(const char *out, const struct run_name *name, char **out_path, int *out_number,
		struct fh_error *err);

/* Path of the folder with that number. It need not exist. Heap. */
char *run_dir_path(const char *out, const struct run_name *name, int number);

/* Lists the numbers of existing folders, sorted. Returns how many. *out_numbers is on the heap. */
size_t run_dir_numbers(const char *out, const struct run_name *name, int **out_numbers);

/* "<dir>/run-<YYYYmmddTHHMMSS>.log" with the current time in UTC. Heap. */
char *run_dir_log(const char *dir);

#endif
