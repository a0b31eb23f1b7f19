/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_INSIDE_H
#define RUN_EPISODE_INSIDE_H

#include "env/env.h"
#include "run/episode.h"
#include "run/foreign.h"
#include "run/opening.h"
#include "run/record.h"

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
};

/* Records and shows a `validate` or `submit` of a command that plays as the agent. It is an
 * env_request_fn whose `user` is the episode. */
void episode_asked(void *episode, int request, const struct fh_step *told);

/* Ends the episode as failed; episode->error has the reason already. */
void episode_fail(struct episode *e);

#endif
