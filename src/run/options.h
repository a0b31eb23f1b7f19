/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "run/agent.h"
#include "run/episode_options.h"

/* Options of a run. NULL, 0 and an empty list mean the default; `given` says which others the user
 * set. */
struct run_options {
	struct episode_options episode;
	struct texts tasks;
	const char *task_config; /* MLGym: a task by the path of its file */
	struct texts models;
	const char *replay_path; /* MLGym: the file of the model `replay` */
	struct texts mounts;     /* MLGym: folders that episodes find beneath the root */
	const char *out, *suffix;
	const char *sweep; /* a file (sweep.h); it alone fills the next five fields */
	struct texts agent_configs;
	const double *temperatures;
	const uint64_t *seeds;
	size_t n_temperatures, n_seeds;
	int runs, jobs;
	int gpus_per_agent;
	struct texts gpus;
	bool memory, skip_existing;
	const char *resume; /* the folder of a run to resume */
	int retry;          /* how often a failed episode is played again */
	struct run_agent_options agent;
	struct {
		bool models, runs, memory, gpus_per_agent;
	} given;
	int human_in, human_out; /* a person's terminal */
	const struct warner *warner;
};

#endif
