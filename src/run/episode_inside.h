/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_INSIDE_H
#define RUN_EPISODE_INSIDE_H

#include "env/env.h"
#include "run/episode.h"
#include "run/opening.h"
#include "run/record.h"

/* Resources of a running episode. episode_begin.c opens them, and episode.c plays. */
struct episode_inside {
	struct opening *opening; /* open environment and model, while a thread opens them */
	struct fh_env *env;
	struct model *model; /* NULL: a language model plays, through `chat` and `agent` */
	struct chat_model *chat;
	struct agent *agent;
	struct run_record record;
	struct recorder_end end;
	struct fh_step step;   /* last result; points into the environment */
	struct job *recording; /* thread that writes the step, or the record's files; NULL: none */
	bool stopping;         /* stop after the running step */
	bool observes;         /* the agent goes on after the step that is being recorded */
	bool resumed;          /* if resumed: all recorded steps were played again */
	size_t different;      /* if resumed: number of observations that differ from the record */
};

/* Ends the episode with its `error`. */
void episode_fail(struct episode *e);

#endif
