/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EXISTING_H
#define RUN_EXISTING_H

#include "run/episode.h"

/*
 * Finished runs in the output folder, which --skip-existing does not play again. Two runs are the
 * same if seed, arguments (args_yaml_same()) and hashes of task and agent are equal.
 */
struct run_existing {
	struct arena arena;
	/* runs found, sorted by the numbers in the names of their folders */
	struct run_found *items;
	size_t n;
};

struct run_wanted {
	/* planned episode that a recorded run must equal; its seed does not count */
	const struct episode_plan *plan;
	const struct task *task;
	const char *task_hash;
	const char *label; /* name of the model as in the names of runs' folders */
};

int run_existing_read(
		const struct run_wanted *wanted, struct run_existing *out, struct fh_error *err);
void run_existing_release(struct run_existing *all);

/* Looks for a finished run that equals the planned episode, and returns true if there is one. The
 * episode then becomes EPISODE_FOUND and gets the results of that run. */
bool run_existing_take(const struct run_existing *all, struct episode *e);

#endif
