/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_CONVERSATION_H
#define AGENT_CONVERSATION_H

#include "agent/config.h"
#include "agent/history.h"
#include "model/chat.h"
#include "model/model.h"
#include "task/task.h"
#include "trajectory/recorder.h"
#include "trajectory/traj.h"

#include <fumehood/agent.h>

/*
 * A conversation between an episode and a language model, without the model. Steps become messages,
 * and replies become actions. Someone else sends the messages: agent.c for runs, or a program that
 * uses fumehood/agent.h.
 *
 *   conversation_observe(c, &step, &err);
 *   do {
 *           ... send conversation_messages(c, &n), and get `reply` ...
 *           conversation_reply(c, &reply, &verdict, &err);
 *   } while (verdict.kind == FH_DECISION_ASK_AGAIN);
 *   conversation_take(c, &turn, &err);
 *   ... step with turn.action ...
 *
 * A turn asks again twice at most. Replies that could not be run are left out of later turns.
 */
struct conversation;

struct conversation_past {
	const struct traj_message *messages;
	size_t n;
};

struct conversation_request {
	const struct agent_config *config; /* configuration; outlives the conversation */
	const struct task *task;           /* the episode's task, copied */
	int max_steps;
	struct recorder *recorder; /* records each message; NULL: none */
	/* The replies come from a record. Demonstrations that are one message are left out, because
	 * the recorded model did not get them. */
	bool is_replay;
	const struct conversation_past *past; /* recorded conversation to continue; NULL: none */
};

/* Opens the conversation of an episode: its system message and demonstrations. -EINVAL: a prompt
 * has an unknown field, or a demonstration is unreadable. */
int conversation_open(const struct conversation_request *request, struct conversation **out,
		struct fh_error *err);
void conversation_close(struct conversation *c); /* NULL is fine */

/* Adds the result of a reset or step as a message, and begins the next turn. Takes milliseconds for
 * a long observation, and may run in a thread. Fails if a message can't be made or recorded. */
int conversation_observe(struct conversation *c, const struct fh_step *step, struct fh_error *err);

/* Returns the messages to send now: the history processor's, then a malformed reply and the
 * complaint about it. They live until the next turn. */
const struct chat_message *conversation_messages(struct conversation *c, size_t *out_n);

/* Returns all messages in full. They live until another is added. */
const struct history *conversation_history(const struct conversation *c);

/* Returns the tools to offer to the model; none if actions are read from the text of replies. */
const struct chat_tool *conversation_tools(const struct conversation *c, size_t *out_n);

/* Consequence of a reply. */
struct conversation_verdict {
	enum fh_decision_kind kind;
	enum fh_fault fault;
	/* if there is a fault: the answer to the model, and the reply's text and tool calls; NULL:
	 * no fault. They live until the next turn. */
	const char *complaint, *reply;
};

/* Takes a reply of the model, which is copied. Fails only if the complaint can't be made or
 * recorded. */
int conversation_reply(struct conversation *c, const struct chat_reply *reply,
		struct conversation_verdict *out, struct fh_error *err);

/* Decides on an action without a reply to read. Strings are copied; response and thought may be
 * NULL. */
void conversation_act(struct conversation *c, const struct model_turn *turn);

/* Adds a message of a person, which the model sees before its next reply. Fails if it can't be
 * recorded. */
int conversation_hint(struct conversation *c, const char *text, struct fh_error *err);

/* Returns true if the turn has an action. */
bool conversation_is_decided(const struct conversation *c);

/* Gives the action of the turn, and adds the reply to the conversation. Strings live until the next
 * turn. Fails if the reply can't be recorded. */
int conversation_take(struct conversation *c, struct model_turn *out, struct fh_error *err);

/* --- prompt_fields.c -------------------------------------------------------------------------- */
/* Sets a template field for each key of the task's file, such as {id}. */
void agent_task_fields(struct fields *f, const struct task *task);

/* Sets template fields from the state that the agent's tools report. `state` is JSON from the
 * sandbox. Fields that it does not name stay. A state that is not a JSON object is ignored. The
 * arena is for parsing. */
void agent_state_fields(struct fields *f, struct arena *a, const char *state);

/* --- past.c ----------------------------------------------------------------------------------- */
/* Adds the configuration's demonstrations to the conversation. With put_demos_in_history, each of
 * their messages becomes a message of the conversation. Otherwise a demonstration becomes a single
 * message. `recorded`: leave out these single messages. */
int agent_add_demonstrations(const struct agent_config *config, bool recorded, struct history *h,
		struct fh_error *err);

/* Adds a recorded conversation. `tools` is true if the output parser reads tool calls. A record
 * does not hold these. So each recorded action then becomes a call of the tool `bash`. */
void agent_add_past(const struct conversation_past *past, bool tools, struct history *h);

#endif
