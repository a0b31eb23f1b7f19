/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_SWEEP_H
#define CMD_RUN_SWEEP_H

#include "cmd/run_options.h"
#include "config/schema.h"

/* A file of many runs: each model with each task, agent, temperature and seed. */
extern const struct schema sweep_schema;

/* Reads the file at options->sweep into the options; what the command line gives wins. Lists live in the arena. */
int run_sweep_apply(struct arena *arena, const struct command_context *ctx,
		struct run_options *options, struct fh_error *err);

#endif
