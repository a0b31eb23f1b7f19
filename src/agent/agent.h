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
 * A language model at work in an episode. A step's observation becomes a message, the conversation
 * goes to the model, and its reply becomes an action. Nothing blocks:
 *
 *   agent_begin(agent, &step, &err);
 *   while (!agent_decided(agent))
 *           ... the call with this agent's `user` has ended: agent_advance(agent, call, &err);
 *   agent_take(agent, &turn);
 *
 * If a reply is malformed or its command is blocked, the model is asked again, at most twice. These
 * replies stay out of the conversation. Failures of the model become actions too: exit_cost,
 * exit_context, exit_api, exit_format, exit_error.
 */
struct agent;

struct agent_past {
	const struct traj_message *messages;
	size_t n;
};

struct agent_request {
	const struct agent_config *config; /* outlives the agent */
	struct chat_model *model;          /* for this agent alone; outlives it. NULL: `recorded` */
	const struct task *task;           /* copied */
	struct fh_env *env;                /* gives the tools' state; NULL: none */
	int max_steps;
	struct recorder *recorder; /* gets every message; NULL: none */
	void *user;                /* for its calls */
	struct model *recorded; /* gives actions in place of a language model; outlives the agent */
	const struct agent_past *past; /* a recorded conversation to continue; NULL: none */
};

/* -EINVAL for a template with an unknown field, or an unreadable demonstration. */
int agent_open(const struct agent_request *request, struct agent **out, struct fh_error *err);
void agent_close(struct agent *a); /* cancels its call; NULL is fine */

/* Starts a turn after `step`, which reset or the last step gave. Fails if a message can't be
 * rendered or recorded. -EINTR at the end of a record. */
int agent_begin(struct agent *a, const struct fh_step *step, struct fh_error *err);
bool agent_decided(const struct agent *a);

/* For the agent's call that chat_service_advance() gave. Frees the call. */
int agent_advance(struct agent *a, struct fh_error *err);

/* The reason why the model gave no reply (exit_api, exit_error). -ECANCELED: no model may be asked
 * any more (exit_cost). NULL: none. Valid until the next agent_begin(). */
const struct fh_error *agent_failure(const struct agent *a);

/* Gives the turn, valid until the next agent_begin(). Fails if the reply can't be recorded. */
int agent_take(struct agent *a, struct model_turn *out, struct fh_error *err);

/* --- prompt_fields.c -------------------------------------------------------------------------- */
/* Adds every key of the task. */
void agent_task_fields(struct fields *f, const struct task *task);

/* Adds the state that the agent's tools report, a JSON object from inside the sandbox. Fields that
 * it lacks stay as they were. The arena is for parsing. */
void agent_state_fields(struct fields *f, struct arena *a, const char *state);

/* --- past.c ----------------------------------------------------------------------------------- */
/* Adds the configuration's demonstrations. `recorded`: add only those that become messages. */
int agent_add_demonstrations(const struct agent_config *config, bool recorded, struct history *h,
		struct fh_error *err);

/* Adds a recorded conversation. If `tools`, each action becomes a use of the shell tool: a record
 * does not hold the provider's form. */
void agent_add_past(const struct agent_past *past, bool tools, struct history *h);

#endif
