/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EXISTING_H
#define RUN_EXISTING_H

#include "run/episode.h"

/*
 * Runs that are there already and over, and so need not be played again. The same run is one that was asked for alike
 * (args_yaml_same()), of the same task and led by the same agent, by what was in their files then, with the same
 * seed.
 */
struct run_existing {
	struct arena arena;
	struct run_found *items; /* in the order of their folders' numbers */
	size_t n;
};

struct run_wanted {
	const struct episode_plan *plan; /* its seed may be any */
	const struct task *task;
	const char *task_hash;
	const char *label; /* of its model, as folders are called after */
};

int run_existing_read(
		const struct run_wanted *wanted, struct run_existing *out, struct fh_error *err);
void run_existing_release(struct run_existing *all);

/* Whether the episode's run is among them: then it is EPISODE_FOUND, and tells what its record says. */
bool run_existing_take(const struct run_existing *all, struct episode *e);

#endif
