/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_SWEEP_H
#define RUN_SWEEP_H

#include "config/schema.h"
#include "run/options.h"
#include "task/task.h"

/* A sweep file: each model plays each task with each agent, temperature and seed. */
extern const struct schema sweep_schema;

/* Reads the file at options->sweep into the options. Options that the user gave win. Lists live in
 * the arena. Tasks will be looked up in `places`. */
int run_sweep_apply(struct arena *arena, const struct task_places *places,
		struct run_options *options, struct fh_error *err);

/* Whether a text is in the list twice; *out_at is where it is for the second time. */
bool repeats_find(const char *const *texts, size_t n, size_t *out_at);

#endif
