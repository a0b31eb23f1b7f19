/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_PLAN_H
#define RUN_PLAN_H

#include "run/agent.h"
#include "run/episode.h"
#include "run/past.h"

/* What a run plays: each model with each task, so many times. */
struct run_plan {
	struct arena arena;
	struct task_places places;
	char *out;
	const char *aliases;       /* a file that shells source; NULL: none */
	bool interactive;          /* a person plays: one episode at a time */
	struct chat_service *chat; /* of all language models; NULL: none plays */
	struct run_agent *agents;  /* one for each model, or more in a sweep */
	size_t n_agents;
	struct run_past past; /* with --resume: the only episode goes on from it */
	struct episode *episodes;
	size_t n, n_found; /* of them, so many are there already (--skip-existing) */
};

/* What can't be played is an error before anything runs. The plan keeps what the options point to. */
int run_plan_make(struct run_plan *plan, const struct run_options *options, struct fh_error *err);
/* Before the gym that they played in is closed. */
void run_plan_release_episodes(struct run_plan *plan);
void run_plan_release(struct run_plan *plan);

#endif
