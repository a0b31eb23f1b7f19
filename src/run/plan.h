/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_PLAN_H
#define RUN_PLAN_H

#include "run/agent.h"
#include "run/episode.h"
#include "run/past.h"

/* All episodes of a run: each model with each task, as often as --runs says. */
struct run_plan {
	struct arena arena;
	struct task_places places;
	char *out;
	const char *aliases;       /* a file that shells source; NULL: none */
	int gpus_per_agent;        /* for each episode; a resumed run has as many as before */
	bool interactive;          /* a person plays: one episode at a time */
	struct chat_service *chat; /* for all language models; NULL: none plays */
	struct run_agent *agents;  /* at least one for each model */
	size_t n_agents;
	struct run_past past; /* with --resume: the only episode goes on from it */
	struct episode *episodes;
	size_t n, n_found; /* n_found of n had ended before (--skip-existing) */
};

/* Checks everything that can be checked before the first episode. The plan points into the
 * options. */
int run_plan_make(struct run_plan *plan, const struct run_options *options, struct fh_error *err);
/* Call this before the gym is closed. */
void run_plan_release_episodes(struct run_plan *plan);
void run_plan_release(struct run_plan *plan);

#endif
