/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include "base/mem.h"
#include "base/scope.h"
#include "env/env.h"

#include <errno.h>
#include <stdlib.h>

struct agent {
	struct conversation *conversation;
	struct chat_model *model;
	void *user;
	void (*rejected)(void *rejected_user, const struct conversation_verdict *verdict);
	void *rejected_user;
	struct model *recorded;
	const struct fh_step *step; /* result of the last reset or step */
	struct chat_call *call;
	/* why the model gave no reply, for agent_failure(); code 0: no failure */
	struct fh_error failure;
};

int agent_open(const struct agent_request *request, struct agent **out, struct fh_error *err)
{
	struct conversation_request own = request->conversation;
	struct conversation *conversation;
	struct agent *a;
	int r;

	own.is_replay = request->model == NULL;
	r = conversation_open(&own, &conversation, err);
	if (r < 0)
		return r;
	a = xcalloc(1, sizeof(*a));
	a->conversation = conversation;
	a->model = request->model;
	a->user = request->user;
	a->rejected = request->rejected;
	a->rejected_user = request->rejected_user;
	a->recorded = request->recorded;
	if (request->env && a->model)
		env_hide(request->env, chat_model_key(a->model));
	*out = a;
	return 0;
}

void agent_close(struct agent *a)
{
	if (!a)
		return;
	chat_call_free(a->call);
	conversation_close(a->conversation);
	free(a);
}

/* Ends the episode after a failure of the model. agent_failure() reports it, except for a full
 * context and the cost limit of the episode. */
static void agent_take_failure(struct agent *a, const struct fh_error *why)
{
	struct model_turn turn = {
		.action = "exit_error", .thought = why->message, .response = why->message
	};

	if (why->code == -E2BIG)
		turn.action = "exit_context";
	else if (why->code == -EDQUOT || why->code == -ECANCELED)
		turn.action = "exit_cost";
	else if (why->code == -EIO)
		turn.action = "exit_api";
	conversation_act(a->conversation, &turn);
	if (why->code != -E2BIG && why->code != -EDQUOT)
		a->failure = *why;
}

static void agent_ask(struct agent *a)
{
	struct chat_request request = { 0 };

	request.messages = conversation_messages(a->conversation, &request.n_messages);
	request.tools = conversation_tools(a->conversation, &request.n_tools);
	a->call = chat_begin(a->model, &request, a->user);
}

/* Hands a reply to the conversation. */
static int agent_take_reply(struct agent *a, const struct chat_reply *reply,
		struct conversation_verdict *out, struct fh_error *err)
{
	int r = conversation_reply(a->conversation, reply, out, err);

	if (r < 0)
		return r;
	if (out->complaint && a->rejected)
		a->rejected(a->rejected_user, out);
	return 0;
}

/* Takes recorded replies until there is an action. */
static int agent_take_recorded(struct agent *a, struct fh_error *err)
{
	struct conversation_verdict verdict;
	struct model_turn turn;

	do {
		int r = model_next(a->recorded, a->step, &turn, err);

		if (r < 0)
			return r;
		if (turn.action) {
			conversation_act(a->conversation, &turn);
			return 0;
		}
		r = agent_take_reply(
				a, &(struct chat_reply){ .content = turn.response }, &verdict, err);
		if (r < 0)
			return r;
	} while (verdict.kind == FH_DECISION_ASK_AGAIN);
	return 0;
}

int agent_observe(struct agent *a, const struct fh_step *step, struct fh_error *err)
{
	a->failure.code = 0;
	a->step = step;
	return conversation_observe(a->conversation, step, err);
}

int agent_begin(struct agent *a, struct fh_error *err)
{
	if (!a->model)
		return agent_take_recorded(a, err);
	agent_ask(a);
	return 0;
}

int agent_hint(struct agent *a, const char *text, struct fh_error *err)
{
	return conversation_hint(a->conversation, text, err);
}

void agent_withdraw(struct agent *a)
{
	chat_call_free(take_ptr(a->call));
}

void agent_act(struct agent *a, const struct model_turn *turn)
{
	conversation_act(a->conversation, turn);
}

bool agent_decided(const struct agent *a)
{
	return conversation_is_decided(a->conversation);
}

int agent_advance(struct agent *a, struct fh_error *err)
{
	struct chat_call *call = take_ptr(a->call);
	struct conversation_verdict verdict = { .kind = FH_DECISION_ACTION };
	struct chat_reply reply;
	struct fh_error why;
	int r = 0;

	if (chat_end(call, &reply, &why) < 0)
		agent_take_failure(a, &why);
	else
		r = agent_take_reply(a, &reply, &verdict, err);
	chat_call_free(call);
	if (r < 0)
		return r;
	if (verdict.kind == FH_DECISION_ASK_AGAIN)
		agent_ask(a);
	return 0;
}

const struct fh_error *agent_failure(const struct agent *a)
{
	return a->failure.code ? &a->failure : NULL;
}

int agent_take(struct agent *a, struct model_turn *out, struct fh_error *err)
{
	return conversation_take(a->conversation, out, err);
}
