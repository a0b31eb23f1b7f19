/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_PLAN_H
#define RUN_EPISODE_PLAN_H

#include "run/agent.h"
#include "task/find.h"

#include <fumehood/env.h>

#include <stdbool.h>
#include <stdint.h>

struct conversation_verdict;
struct episode;
struct foreign_options;
struct openings;
struct run_past;
struct takeover;

/* All that is needed to play one episode. All pointers stay valid until the episode ends. */
struct episode_plan {
	struct fh_gym *gym;
	struct openings *openings;
	const struct fh_env_options *env;
	const struct task_places *places;
	const char *model;
	/* agent whose configuration the language model follows; NULL: none */
	const struct run_agent *agent;
	/* command that plays as the agent, with the model of `agent`; NULL: none */
	const struct foreign_options *foreign;
	const char *aliases; /* path of a script that the episode's shells source; NULL: none */
	/* start the linter of the agent's editor before the first edit, because it takes long */
	bool edits_at_once;
	const char *out, *suffix;
	const char *reward;
	uint64_t seed;
	/* If a run is resumed or replayed: recorded hashes of the files of task and agent. NULL:
	 * no such run, or the user chose another task or agent. */
	const char *task_hash, *agent_hash;
	/* SECRET_KEYS_VERSION in the record of the run that is resumed or replayed; 0: no such
	 * run */
	int64_t keys;
	const struct run_past *past; /* recorded run that this episode resumes; NULL: none */
	int human_in, human_out, stop_fd;
	struct takeover *takeover; /* mailbox of a person who may take over; NULL: none */
	/* Callback with each step's result after it was recorded. NULL: not called. */
	void (*played)(void *user, const struct episode *e, const struct fh_step *step);
	/* Callback with each reply of the model that led to no step. NULL: not called. */
	void (*rejected)(void *user, const struct conversation_verdict *verdict);
	void *played_user; /* argument for both callbacks */
	/* Callback after the reset and after each step, once they are recorded. The environment is
	 * idle. NULL: not called. */
	void (*idle)(void *user, struct fh_env *env);
	void *idle_user;
};

#endif
