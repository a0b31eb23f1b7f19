/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_PLAN_H
#define RUN_PLAN_H

#include "run/agent.h"
#include "run/episode.h"
#include "run/foreign.h"
#include "run/past.h"
#include "task/find.h"

/*
 * All planned episodes of a run. Each model plays each task as often as --runs says; a sweep file
 * also lists agents, temperatures and seeds.
 */
struct run_plan {
	struct arena arena;
	struct task_places places;
	char *out;
	const char *aliases; /* path of a script that the sandbox's shells source; NULL: none */
	/*
	 * number of GPUs of each episode; without --gpus-per-agent a resumed run uses as many as
	 * before
	 */
	int gpus_per_agent;
	bool interactive; /* a person plays, so one episode runs at a time */
	/* service that all language models use; NULL: no language model plays */
	struct chat_service *chat;
	struct run_agent *agents; /* array with at least one agent for each model */
	size_t n_agents;
	struct foreign_options foreign; /* a copy of run_options.foreign */
	struct run_past past; /* recorded run that the only episode resumes, with --resume */
	struct episode *episodes;
	bool all_tasks; /* the task `all` was given, so tasks that can't be played are left out */
	/*
	 * number of planned episodes, and number of those that an earlier run has finished
	 * (--skip-existing)
	 */
	size_t n, n_found;
};

/* Plans all episodes. Checks everything that can be checked before the first one starts. The
 * plan keeps pointers to `given`. */
int run_plan_make(struct run_plan *plan, const struct run_options *given, struct fh_error *err);
/* Releases the plan's episodes. Call it before the gym is closed. */
void run_plan_release_episodes(struct run_plan *plan);
void run_plan_release(struct run_plan *plan);

#endif
