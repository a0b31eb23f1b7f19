/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_PAST_H
#define RUN_PAST_H

#include "agent/conversation.h"
#include "run/options.h"
#include "trajectory/export.h"

/*
 * A recorded run to resume. A new episode plays the recorded actions again, and compares the
 * observations. Then the model goes on from the recorded conversation. Messages after the last
 * recorded step are dropped.
 */
struct run_past {
	char *dir;
	int number; /* number in the name of the recorded run's folder */
	uint64_t seed;
	struct arena arena;
	struct exported recorded;
	/*
	 * Number of recorded steps to play again. A last step with which a cost limit or outage
	 * ended the run does not count.
	 */
	size_t n_steps;
	/* recorded messages of the model's conversation, up to the reply for step n_steps */
	struct conversation_past messages;
	struct chat_stats spent; /* recorded cost, tokens and calls of the model */
	const char *task_hash, *agent_hash;
	/* SECRET_KEYS_VERSION (how keys are derived from the machine's secret) of the build that
	 * recorded the run */
	int64_t keys;
	/*
	 * Path of a copy of the agent's memory file (its notes) from the start of the recorded run.
	 * The file may be missing.
	 */
	const char *memory;
};

/*
 * Reads a recorded run that is to be resumed. -EINVAL: the run ended in order or had not begun, or
 * no language model played. If a cost limit ended the run, cost_limit must exceed the cost so far.
 * cost_limit is 0 for no limit, negative if the user did not set it.
 */
int run_past_open(const char *dir, double cost_limit, struct run_past *out, struct fh_error *err);
void run_past_release(struct run_past *past);

/* Sets the resumed run's options from its record. Options of the model that the user set stay. */
int run_past_apply(struct run_past *past, struct run_options *options, struct fh_error *err);

/* Returns the agent's configuration that a recorded "open" event names: a path, or the name of
 * an installed one. NULL: no agent played. */
const char *run_past_agent(const struct pyjson *open);

/* Returns recorded action i, counted from 0, with the thought and the model's reply that led to
 * it. */
struct model_turn run_past_turn(const struct run_past *past, size_t i);

/* Returns true if the observation of a replayed step differs from the recorded one. Step 0 is the
 * reset. */
bool run_past_differs(const struct run_past *past, const struct fh_step *step);

#endif
