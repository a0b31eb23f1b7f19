/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "agent/config.h"
#include "agent/history.h"
#include "model/chat.h"
#include "model/model.h"
#include "task/task.h"
#include "trajectory/recorder.h"
#include "trajectory/traj.h"

#include <fumehood/env.h>

/*
 * A language model at work in an episode: what a step gave becomes a message, the conversation goes to the
 * model, its reply becomes an action. Nothing blocks:
 *
 *   agent_begin(agent, &step, &err);
 *   while (!agent_decided(agent))
 *           ... the call with this agent's `user` is over: agent_advance(agent, call, &err);
 *   agent_take(agent, &turn);
 *
 * A reply in a wrong form, or with a command that is blocked, is asked for again, twice at most; what was
 * wrong with it stays out of the conversation. What a model can't do (costs, context, provider) becomes an
 * action, too: exit_cost, exit_context, exit_api, exit_format, exit_error.
 */
struct agent;

struct agent_past {
	const struct traj_message *messages;
	size_t n;
};

struct agent_request {
	const struct agent_config *config; /* outlives the agent */
	struct chat_model *model;          /* of this agent alone; outlives it. NULL: `recorded` */
	const struct task *task;           /* need not stay */
	struct fh_env *env;                /* what asks for the tools' state; NULL: nobody does */
	int max_steps;
	struct recorder *recorder; /* gets every message; NULL: nobody does */
	void *user;                /* of its calls */
	struct model *recorded;    /* its actions are taken as they are; outlives the agent */
	const struct agent_past
			*past; /* a conversation that is recorded, and goes on; NULL: it begins */
};

/* -EINVAL for a template with a field that nobody knows, a demonstration that can't be read. */
int agent_open(const struct agent_request *request, struct agent **out, struct fh_error *err);
void agent_close(struct agent *a); /* ends its call; NULL is fine */

/* `step` is what reset or the last step gave. Fails when a message can't be made or recorded; -EINTR where a
 * record ends. */
int agent_begin(struct agent *a, const struct fh_step *step, struct fh_error *err);
bool agent_decided(const struct agent *a);

/* When chat_service_advance() gave its call, which this frees. */
int agent_advance(struct agent *a, struct fh_error *err);

/* Why the model could not be had (exit_api, exit_error), or, -ECANCELED, why none is to be asked any more (exit_cost,
 * by the limit of all together); NULL: it was. Lives until the next agent_begin(). */
const struct fh_error *agent_failure(const struct agent *a);

/* Lives until the next agent_begin(). Fails when the reply can't be recorded. */
int agent_take(struct agent *a, struct model_turn *out, struct fh_error *err);

/* --- task_fields.c -------------------------------------------------------------------------------- */
/* Every key of the task. */
void agent_task_fields(struct fields *f, const struct task *task);

/* --- state_fields.c ------------------------------------------------------------------------------- */
/* What the tools themselves say, beside and above what an environment knows: a JSON object, in an agent's words.
 * What it does not say again stays as it was. The arena is for reading it. */
void agent_state_fields(struct fields *f, struct arena *a, const char *state);

/* --- demonstrations.c ------------------------------------------------------------------------------ */
/* Adds what the configuration shows beforehand. */
int agent_add_demonstrations(const struct agent_config *config, bool recorded, struct history *h,
		struct fh_error *err);

/* --- past.c ---------------------------------------------------------------------------------------- */
/* Adds what was said. `tools`: actions were uses of tools; the record doesn't have them in the provider's form, so
 * each becomes a use of the shell. */
void agent_add_past(const struct agent_past *past, bool tools, struct history *h);

#endif
