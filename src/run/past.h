/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_PAST_H
#define RUN_PAST_H

#include "agent/agent.h"
#include "run/options.h"
#include "trajectory/export.h"

/*
 * A recorded run to resume. A new episode plays the recorded actions again, and compares the
 * observations. Then the model goes on from the recorded conversation. Messages after the last
 * recorded step are dropped.
 */
struct run_past {
	char *dir;
	int number; /* number of the folder */
	uint64_t seed;
	struct arena arena;
	struct exported recorded;
	/* recorded steps to play again, without a step that a cost limit or outage ended */
	size_t n_steps;
	struct agent_past messages; /* recorded messages up to the last of these steps */
	struct chat_stats spent;    /* recorded cost, tokens and calls of the model */
	const char *task_hash, *agent_hash;
	int64_t keys; /* recorded SECRET_KEYS_VERSION */
	/* path of the agent's memory at the start of the run; may be missing */
	const char *memory;
};

/* Reads a recorded run that is to be resumed. -EINVAL: it ended in order, or no language model
 * played. A run that its cost limit ended needs a higher cost_limit. 0 means no limit, and a
 * negative value that the user set none. */
int run_past_open(const char *dir, double cost_limit, struct run_past *out, struct fh_error *err);
void run_past_release(struct run_past *past);

/* Sets the run's options from the record. Options of the model that the user set stay. */
int run_past_apply(struct run_past *past, struct run_options *options, struct fh_error *err);

/* The agent's configuration in a recorded "open" event: a path, or the name of an installed one.
 * NULL: no agent played. */
const char *run_past_agent(const struct pyjson *open);

/* Recorded action i, counted from 0, with its thought and reply. */
struct model_turn run_past_turn(const struct run_past *past, size_t i);

/* Whether a step's observation differs from the recorded one. Step 0 is the reset. */
bool run_past_differs(const struct run_past *past, const struct fh_step *step);

#endif
