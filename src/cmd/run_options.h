/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_OPTIONS_H
#define CMD_RUN_OPTIONS_H

#include "cli/cmd.h"
#include "cmd/episode_options.h"
#include "cmd/log_options.h"
#include "cmd/run_agent.h"

/* What `fumehood run` takes: its own options, and MLGym's spellings of them. */
struct run_options {
	struct episode_options episode;
	struct texts tasks;
	const char *task_config; /* MLGym: a task by the path of its file */
	struct texts models;
	const char *replay_path; /* MLGym: the file of the model `replay` */
	struct texts mounts;     /* MLGym: folders that episodes find beneath the root */
	const char *out, *suffix;
	const char *sweep; /* a file; what follows is only in one (run_sweep.h), empty: as options say */
	struct texts agent_configs;
	const double *temperatures;
	const uint64_t *seeds;
	size_t n_temperatures, n_seeds;
	int runs, jobs;
	int agents; /* MLGym: so many runs side by side; 0: not given */
	int gpus_per_agent;
	struct texts gpus;
	bool quiet, verbose;
	bool memory, skip_existing;
	const char *resume; /* the folder of a run that goes on */
	int retry;          /* how often an episode that broke is begun again */
	struct run_agent_options agent;
	struct log_choice log;
};

extern const struct cmd_option run_options[];

#endif
