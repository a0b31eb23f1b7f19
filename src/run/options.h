/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "run/agent.h"
#include "run/episode_options.h"
#include "run/foreign.h"

/* Options of a run. NULL, 0 and an empty list mean the default. For other options, `given` tells
 * whether the user set them. */
struct run_options {
	struct episode_options episode;
	struct texts tasks;
	const char *task_config; /* MLGym's --task_config_path: path of the task's file */
	struct texts models;
	/* MLGym's --replay_path: path of the record that the model `replay` plays */
	const char *replay_path;
	struct texts mounts; /* MLGym's --container_mounts: folders to bind as /NAME */
	const char *out, *suffix;
	/* path of a sweep file (sweep.h), the only source of the next five fields */
	const char *sweep;
	struct texts agent_configs;
	const double *temperatures;
	const uint64_t *seeds;
	size_t n_temperatures, n_seeds;
	int runs, jobs;
	int gpus_per_agent;
	struct texts gpus;
	bool memory, skip_existing;
	const char *resume; /* value of --resume: folder of the run to go on with */
	int retry;          /* number of times that an episode is started again after a failure */
	struct run_agent_options agent;
	struct foreign_options foreign; /* for a program as the agent; command NULL: none */
	struct {
		bool models, runs, memory, gpus_per_agent;
	} given;
	int human_in, human_out; /* descriptors of the terminal of a person who plays */
	const struct warner *warner;
};

#endif
