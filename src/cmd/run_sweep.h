/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_SWEEP_H
#define CMD_RUN_SWEEP_H

#include "cmd/run_options.h"
#include "config/schema.h"
#include "task/task.h"

/* A file of many runs: each model with each task, agent, temperature and seed. */
extern const struct schema sweep_schema;

/* Reads the file at options->sweep into the options; what the command line gives wins. Lists live in the arena.
 * `places` are those that tasks will be looked up in. */
int run_sweep_apply(struct arena *arena, const struct command_context *ctx,
		const struct task_places *places, struct run_options *options,
		struct fh_error *err);

#endif
