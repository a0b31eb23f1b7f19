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
 * Episode of a run: a model acts in an environment. The episode first makes the folder of its
 * record, and writes the record's files at the end. Each step is recorded before the model sees the
 * result. A thread can drive many episodes, because no function blocks, except while a person
 * types.
 */
enum episode_phase {
	EPISODE_PLANNED,
	EPISODE_GIVEN_UP, /* cancelled before it began: `error` says why */
	EPISODE_FOUND,    /* an earlier run had finished it: fields are read from its record */
	EPISODE_OPENING,  /* a thread opens the environment */
	EPISODE_RESETTING,
	EPISODE_THINKING, /* waits for the language model's reply */
	EPISODE_STEPPING,
	EPISODE_WRITING,   /* a step with a long observation is done; a thread records it */
	EPISODE_RECORDING, /* the last step is done; a thread writes the files of the record */
	EPISODE_LEAVING,   /* the last step is done; the agent's memory is being saved */
	EPISODE_ENDED,     /* finished: has an exit status, or `failed` is set */
};

/* State of an episode. Others may read it, and write only through the functions below. Pointers are
 * valid until episode_release(). */
struct episode {
	struct episode_plan plan;
	/* resources while the episode goes on; NULL before and after */
	struct episode_inside *inside;
	enum episode_phase phase;
	bool failed;
	struct fh_error error; /* if `failed`: the reason */
	int retried;           /* how often a failed try of this episode was started again */

	int number; /* number of the run's folder */
	int steps, max_steps;
	char *action;                   /* last action of the player; NULL before the first */
	const char *thought, *response; /* for `action`, while its step runs; NULL: none */
	char *trouble;     /* failure after which the language model is asked again; NULL: none */
	char *exit_status; /* exit status; "" while the episode goes on */
	char *traj;        /* path of the .traj file; NULL before the folder exists */
	bool recorded;     /* the .traj file is complete */
	char *variant;
	struct run_scores scores;
	int64_t begun_ns, ended_ns; /* clock_now_ns() at the start and end; 0: not yet */
	struct chat_stats stats;    /* the language model's calls, tokens and cost */
};

/* Whether a report names the episode: it was started, or an earlier run had finished it. */
static inline bool episode_was_begun(const struct episode *e)
{
	return e->phase > EPISODE_GIVEN_UP;
}

/* Whether the episode is in a final phase and will not change any more. */
static inline bool episode_is_settled(const struct episode *e)
{
	return e->phase == EPISODE_GIVEN_UP || e->phase == EPISODE_FOUND ||
			e->phase == EPISODE_ENDED;
}

void episode_init(struct episode *e, const struct episode_plan *plan);
void episode_release(struct episode *e);

/* Cancels an episode that has not begun. No folder is made. */
void episode_give_up(struct episode *e, const struct fh_error *why);

/* In EPISODE_WRITING and EPISODE_RECORDING: whether the thread has ended. If so, call
 * episode_recorded(). */
bool episode_is_recorded(const struct episode *e);
void episode_recorded(struct episode *e);

/* Continues an episode whose environment fh_gym_wait() returned. */
void episode_advance(struct episode *e);

/* Continues an episode whose language model has replied. */
void episode_thought(struct episode *e);

/* Notes in e->trouble that the language model did not reply and is asked again. A chat_retry_fn
 * whose `user` is the episode. */
void episode_retried(void *episode, const struct chat_retry *retry);

/* Ends the episode in order, once its running step can be interrupted. */
void episode_stop(struct episode *e);

/* Whether the episode is played in this environment. */
bool episode_has_env(const struct episode *e, const struct fh_env *env);

/* Warning of the episode's environment; NULL: none. */
const char *episode_warning(const struct episode *e);

/* Shows a person the output so far of the command that they typed. False: no command runs. */
bool episode_watch(const struct episode *e);

/* Interrupts the command of the running step, as Ctrl-C does. */
void episode_interrupt(const struct episode *e);

#endif
