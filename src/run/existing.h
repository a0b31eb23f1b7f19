/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EXISTING_H
#define RUN_EXISTING_H

#include "run/episode.h"

/*
 * Finished runs in the output folder, which --skip-existing need not play again. A run is the same
 * if its arguments (args_yaml_same()) and seed are, and the hashes of task and agent.
 */
struct run_existing {
	struct arena arena;
	struct run_found *items; /* in the order of their folders' numbers */
	size_t n;
};

struct run_wanted {
	const struct episode_plan *plan; /* with any seed */
	const struct task *task;
	const char *task_hash;
	const char *label; /* the model's; a part of the folder's name */
};

int run_existing_read(
		const struct run_wanted *wanted, struct run_existing *out, struct fh_error *err);
void run_existing_release(struct run_existing *all);

/* Looks for the episode's run among the existing ones. If it is there, the episode becomes
 * EPISODE_FOUND, with the results of its record. */
bool run_existing_take(const struct run_existing *all, struct episode *e);

#endif
