/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_INSIDE_H
#define RUN_EPISODE_INSIDE_H

#include "env/env.h"
#include "model/model.h"
#include "run/episode.h"
#include "run/foreign.h"
#include "run/opening.h"
#include "run/record.h"
#include "run/takeover.h"

/* Resources of a running episode. episode_begin.c opens them, and episode.c plays. */
struct episode_inside {
	struct opening *opening; /* thread that opens environment and model; NULL: none */
	struct fh_env *env;
	/* model that plays; NULL: a language model plays, through `chat` and `agent` */
	struct model *model;
	struct chat_model *chat;
	struct agent *agent;
	struct foreign *foreign; /* agent that is a command; NULL: none */
	bool is_broken;          /* a call of `foreign` could not be recorded: e->error says why */
	struct run_record record;
	struct recorder_end end;
	/* result of the last step or reset; its strings belong to the environment */
	struct fh_step step;
	struct job *recording; /* thread that writes the step, or the record's files; NULL: none */
	bool stopping;         /* the episode is to end after the running step */
	/* the recorded step does not end the episode, so the agent gets the step's observation */
	bool observes;
	bool resumed; /* a resumed run has played all recorded steps again */
	/* number of replayed observations that differ from the record, for a resumed run */
	size_t different;
	struct desk *desk; /* place at which a person takes over; NULL: none */
	/* order of the person who takes the running step; text NULL: the model takes it */
	struct desk_order by_hand;
	char *reply_by_hand; /* `by_hand` as a reply of a language model; NULL: none */
	int64_t hint_bytes;  /* bytes of hints since the last step, as JSON */
};

/* Records and shows a `validate` or `submit` of a command that plays as the agent. It is an
 * env_request_fn whose `user` is the episode. */
void episode_asked(void *episode, int request, const struct fh_step *told);

/* --- episode_note.c: keeps results ------------------------------------------------------------ */

/* Stores the result of the reset or step in the episode. Returns true if it must be recorded, false
 * if it was replayed from the record. */
bool episode_note(struct episode *e);

int episode_record_reset(struct episode *e);

/* Records the step, and adds it to the agent's conversation. A job runs it in a thread. */
int episode_record_step(void *episode, struct fh_error *err);

/*
 * Ends the phase of a resumed run in which recorded steps are played again. From now on the model
 * decides on the actions.
 */
int episode_end_past(struct episode *e);

/* Opens the agent that controls the language model, and gives it the last result. Call it after the
 * reset, because the agent's conversation begins with the first observation. */
int episode_open_agent(struct episode *e);

/* --- episode_orders.c: follows a person who takes over ---------------------------------------- */

/* Opens the episode's desk if the plan has a mailbox. Call it once the record has a folder. */
void episode_open_desk(struct episode *e);

/* Records the orders that came, and gives hints to the agent. Returns 1 with an action of the
 * person in e->inside->by_hand, else 0. */
int episode_follow_orders(struct episode *e);

/* Returns the person's action as a turn, with a reply if the record needs one. Valid until the next
 * order is followed. */
struct model_turn episode_turn_by_hand(const struct episode *e);

/* Refuses further orders, and records those that came too late. */
void episode_end_orders(struct episode *e);

/* --- episode.c -------------------------------------------------------------------------------- */

/* Ends the episode as failed; episode->error has the reason already. */
void episode_fail(struct episode *e);

#endif
