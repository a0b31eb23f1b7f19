/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_PAST_H
#define RUN_PAST_H

#include "agent/agent.h"
#include "run/options.h"
#include "trajectory/export.h"

/*
 * A run to resume, read from its folder. A fresh episode plays the recorded actions again, and the
 * observations are compared. Then the model goes on from the recorded conversation. Messages after
 * the last recorded step are dropped.
 */
struct run_past {
	char *dir;
	int number; /* the folder's */
	uint64_t seed;
	struct arena arena;
	struct exported recorded;
	size_t n_steps;             /* to play again; a step that an outage ended is not */
	struct agent_past messages; /* up to the last of these steps */
	struct chat_stats spent;    /* on them */
	const char *task_hash, *agent_hash;
	int64_t keys;       /* see episode_recorded_keys() */
	const char *memory; /* file with the agent's memory as the run began; it may be missing */
};

/* -EINVAL for a run that ended in order, or that no language model played: it can't be resumed. A
 * run that its own limit on costs ended needs a higher cost_limit. 0 means no limit, and a negative
 * one that the user gave none. */
int run_past_open(const char *dir, double cost_limit, struct run_past *out, struct fh_error *err);
void run_past_release(struct run_past *past);

/* Fills the options from the record. Options of the model that the user set stay. */
int run_past_apply(struct run_past *past, struct run_options *options, struct fh_error *err);

/* The agent's configuration in the event `open` of a record: its file, or the name of one that is
 * installed. NULL: none led the run. */
const char *run_past_agent(const struct pyjson *open);

/* Step i of those that are played again, from 0. */
struct model_turn run_past_turn(const struct run_past *past, size_t i);

/* Whether the observation of the reset (step 0) or of a step differs from the recorded one. */
bool run_past_differs(const struct run_past *past, const struct fh_step *step);

#endif
