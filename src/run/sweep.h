/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_SWEEP_H
#define RUN_SWEEP_H

#include "config/schema.h"
#include "run/options.h"
#include "task/find.h"
#include "task/task.h"

/* A sweep file: each listed model plays each task with each agent, temperature and seed. */
extern const struct schema sweep_schema;

/* Reads the sweep file options->sweep into the options. Options that the user gave stay. Lists
 * are made in the arena. Tasks are looked for in `places`. */
int run_sweep_apply(struct arena *arena, const struct task_places *places,
		struct run_options *options, struct fh_error *err);

#endif
