/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_PAST_H
#define RUN_PAST_H

#include "agent/agent.h"
#include "run/options.h"
#include "trajectory/export.h"

/*
 * A run that was killed, stopped or broke, read from its folder to go on there: its actions are played again in a
 * fresh episode, what they show is compared with what was recorded, and then its model is asked on with the recorded
 * conversation. What was said after the last recorded step is said again.
 */
struct run_past {
	char *dir;
	int number; /* of the folder */
	uint64_t seed;
	struct arena arena;
	struct exported recorded;
	size_t n_steps;             /* that hold: what an outage ended, say, ends before that */
	struct agent_past messages; /* that hold */
	struct chat_stats spent;    /* on them */
	const char *task_hash, *agent_hash;
	const char *memory; /* a file: what the agent's began as, if it is there */
};

/* -EINVAL for a run that ended in order, or that no language model played: there is nothing to go on with. One that its
 * own limit on costs ended goes on where cost_limit is a higher one (0: none; negative: nobody asked for another). */
int run_past_open(const char *dir, double cost_limit, struct run_past *out, struct fh_error *err);
void run_past_release(struct run_past *past);

/* Fills the options with what was asked for then. What they say of the model itself wins. */
int run_past_apply(struct run_past *past, struct run_options *options, struct fh_error *err);

/* What finds the agent's configuration again, by the `open` of a record: its file, or the name of one that is
 * installed. NULL: none led the run. */
const char *run_past_agent(const struct pyjson *open);

/* Step i of those that are played again, from 0. */
struct model_turn run_past_turn(const struct run_past *past, size_t i);

/* Whether the reset (0) or a step showed something else than what was recorded. */
bool run_past_differs(const struct run_past *past, const struct fh_step *step);

#endif
