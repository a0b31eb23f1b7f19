/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "agent/conversation.h"
#include "model/chat.h"
#include "model/model.h"

#include <fumehood/env.h>

/*
 * A language model at work in an episode. A step's observation becomes a message, the conversation
 * goes to the model, and its reply becomes an action. Nothing blocks:
 *
 *   agent_observe(agent, &step, &err);
 *   agent_begin(agent, &err);
 *   while (!agent_decided(agent))
 *           ... the call with this agent's `user` has ended: agent_advance(agent, &err);
 *   agent_take(agent, &turn, &err);
 *
 * If a reply is malformed or its command is blocked, the model is asked again, at most twice. These
 * replies stay out of the conversation. Failures of the model become actions too: exit_cost,
 * exit_context, exit_api, exit_format, exit_error.
 */
struct agent;

struct agent_request {
	struct conversation_request conversation; /* `is_replay` is set here */
	/* language model, used by this agent only; outlives the agent; NULL: replies come from
	 * `recorded` */
	struct chat_model *model;
	void *user; /* value for the field `user` of the agent's calls to the language model */
	struct fh_env *env; /* environment whose results hide the model's key; NULL: none */
	/* Callback for each reply that led to no step, after it was recorded. NULL: not called. */
	void (*rejected)(void *rejected_user, const struct conversation_verdict *verdict);
	void *rejected_user;
	/* gives recorded replies if the field `model` is NULL; outlives the agent */
	struct model *recorded;
};

/* Opens an agent for an episode. -EINVAL: a prompt has an unknown field, or a demonstration is
 * unreadable. */
int agent_open(const struct agent_request *request, struct agent **out, struct fh_error *err);
void agent_close(struct agent *a); /* cancels the agent's chat call; NULL is fine */

/* Adds `step`, the result of a reset or step, to the conversation. Takes milliseconds for a long
 * observation, and may run in a thread. Fails if a message can't be made or recorded. */
int agent_observe(struct agent *a, const struct fh_step *step, struct fh_error *err);

/* Starts a turn after agent_observe(): the model decides on the next action. The `step` passed to
 * agent_observe() must stay valid until the turn ends. -EINTR: no recorded reply is left. */
int agent_begin(struct agent *a, struct fh_error *err);
bool agent_decided(const struct agent *a);

/* Gives the model a message of a person, between agent_observe() and agent_begin(). */
int agent_hint(struct agent *a, const char *text, struct fh_error *err);

/* Drops the reply that the model is at. The turn can begin again with agent_begin(). */
void agent_withdraw(struct agent *a);

/* Takes a person's decision in place of the model's, instead of agent_begin(). agent_take() then
 * gives it. Strings are copied. */
void agent_act(struct agent *a, const struct model_turn *turn);

/* Goes on after chat_service_advance() has returned the agent's call to the model: reads the reply,
 * or asks the model again. Frees the call. */
int agent_advance(struct agent *a, struct fh_error *err);

/* Returns the error of the model if it gave no reply (exit_api, exit_error). -ECANCELED: the total
 * cost limit is reached (exit_cost). NULL if the model did not fail, or its context is full. Valid
 * until the next agent_observe(). */
const struct fh_error *agent_failure(const struct agent *a);

/* Gives the action that the agent decided on, with its thought. Valid until the next
 * agent_observe(). Fails if the reply can't be recorded. */
int agent_take(struct agent *a, struct model_turn *out, struct fh_error *err);

#endif
