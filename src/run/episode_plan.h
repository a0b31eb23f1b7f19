/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_PLAN_H
#define RUN_EPISODE_PLAN_H

#include "run/agent.h"
#include "task/find.h"

#include <fumehood/env.h>

#include <stdbool.h>
#include <stdint.h>

struct episode;
struct openings;
struct run_past;

/* Plan of one episode. All pointers stay valid until the episode ends. */
struct episode_plan {
	struct fh_gym *gym;
	struct openings *openings;
	const struct fh_env_options *env;
	const struct task_places *places;
	const char *model;
	/* agent that leads the language model; NULL: another model plays */
	const struct run_agent *agent;
	const char *aliases; /* a file that the episode's shells source; NULL: none */
	bool edits_at_once;  /* start the linter before the first edit */
	const char *out, *suffix;
	const char *reward;
	uint64_t seed;
	/* Recorded hashes of a run that is resumed or replayed. NULL: no such run, or the user
	 * chose another task or agent. */
	const char *task_hash, *agent_hash;
	int64_t keys;                /* recorded SECRET_KEYS_VERSION; 0: no recorded run */
	const struct run_past *past; /* the run to resume; NULL: none */
	int human_in, human_out, stop_fd;
	/* Called with the result of each step, after it was recorded; NULL: not called. */
	void (*played)(void *user, const struct episode *e, const struct fh_step *step);
	void *played_user;
};

#endif
