/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_H
#define RUN_EPISODE_H

#include "base/error.h"
#include "model/chat.h"
#include "run/episode_plan.h"
#include "run/scores.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * An episode of a run, from its folder to its files: a model acts in an environment. Each step is
 * recorded before the model sees its result. A thread can drive many episodes: nothing blocks,
 * except a person's terminal.
 */
enum episode_phase {
	EPISODE_PLANNED,
	EPISODE_GIVEN_UP, /* before it began: `error` says why */
	EPISODE_FOUND,    /* the run had ended before: the fields below are read from its record */
	EPISODE_OPENING,  /* by a thread */
	EPISODE_RESETTING,
	EPISODE_THINKING, /* a language model is asked */
	EPISODE_STEPPING,
	EPISODE_RECORDING, /* it has ended, and a thread writes the files of its record */
	EPISODE_LEAVING,   /* it has ended, and its memory is kept */
	EPISODE_ENDED,     /* with an exit status, or by an error: `failed` */
};

/* Read it, but write only through the functions below. All lives until episode_release(). */
struct episode {
	struct episode_plan plan;
	struct episode_inside *inside; /* while it goes on; NULL before and after */
	enum episode_phase phase;
	bool failed;
	struct fh_error error; /* why it failed */
	int retried;           /* how often it was begun again after a failure */

	int number; /* the folder's */
	int steps, max_steps;
	char *action;                   /* the last one, NULL before the first */
	const char *thought, *response; /* the action's, while its step runs; may be NULL */
	char *trouble;                  /* why its model is asked again; NULL: it is not */
	char *exit_status;              /* "" while there is none */
	char *traj;                     /* path of the .traj, NULL until there is a folder */
	bool recorded;                  /* the .traj is written, with every step */
	char *variant;
	struct run_scores scores;
	int64_t begun_ns, ended_ns; /* by clock_now_ns(); 0: not yet */
	struct chat_stats stats;    /* a language model's */
};

/* Whether the episode has begun, or was found: there is something to report. */
static inline bool episode_was_begun(const struct episode *e)
{
	return e->phase > EPISODE_GIVEN_UP;
}

/* Whether the episode will not change any more. */
static inline bool episode_is_settled(const struct episode *e)
{
	return e->phase == EPISODE_GIVEN_UP || e->phase == EPISODE_FOUND ||
			e->phase == EPISODE_ENDED;
}

void episode_init(struct episode *e, const struct episode_plan *plan);
void episode_release(struct episode *e);

/* Ends an episode that was only planned: it leaves no folder. */
void episode_give_up(struct episode *e, const struct fh_error *why);

/* Begins to open its environment. After this call and each of the next four, look at the phase. */
void episode_start(struct episode *e);

/* Whether its opening is over, in EPISODE_OPENING: then call episode_opened(). */
bool episode_is_open(const struct episode *e);
void episode_opened(struct episode *e);

/* True in EPISODE_RECORDING once the files of the record are written: then call
 * episode_recorded(). */
bool episode_is_recorded(const struct episode *e);
void episode_recorded(struct episode *e);

/* Call when fh_gym_wait() returned its environment. */
void episode_advance(struct episode *e);

/* Call when its language model has answered. */
void episode_thought(struct episode *e);

/* Notes that its language model did not answer and is asked again. A chat_retry_fn; the calls' user
 * is the episode. */
void episode_retried(void *episode, const struct chat_retry *retry);

/* Ends it in order, as soon as the step that runs can be ended. */
void episode_stop(struct episode *e);

/* Whether it is played in this environment. */
bool episode_has_env(const struct episode *e, const struct fh_env *env);

/* Warning of its environment; NULL: none. */
const char *episode_warning(const struct episode *e);

/* Shows a person the output so far of the command that they typed. False: none runs. */
bool episode_watch(const struct episode *e);

/* Interrupts the step that runs, as Ctrl-C does. */
void episode_interrupt(const struct episode *e);

#endif
