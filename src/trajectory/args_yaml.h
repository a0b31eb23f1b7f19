/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_ARGS_YAML_H
#define TRAJECTORY_ARGS_YAML_H

#include "base/error.h"
#include "trajectory/run_dir.h"

#include <stdint.h>

/* args.yaml: how a run was asked for, under MLGym's names where it has them. */
struct run_args {
	const struct run_name *name;
	const char *agent_config_path; /* as in recorder_options */
	const char *model;             /* as it was given: "actions:FILE" */
	uint64_t seed;
	int max_steps;
	const char *reward;
};

int args_yaml_write(const char *dir, const struct run_args *args, struct fh_error *err);

#endif
