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
	EPISODE_GIVEN_UP, /* the episode was cancelled before it began: `error` says why */
	/*
	 * not played, because an earlier run has played this episode: fields come from that run's
	 * record
	 */
	EPISODE_FOUND,
	EPISODE_OPENING, /* a thread opens the environment */
	EPISODE_RESETTING,
	EPISODE_THINKING, /* the episode waits for the language model's reply */
	EPISODE_HELD,     /* the episode waits for a person who took over (takeover.h) */
	EPISODE_STEPPING,
	EPISODE_WRITING,   /* a step with a long observation is done; a thread records it */
	EPISODE_RECORDING, /* the last step is done; a thread writes the files of the record */
	EPISODE_LEAVING,   /* the last step is done; the agent's memory is being saved */
	EPISODE_ENDED,     /* the episode has ended: it has an exit status, or `failed` is set */
};

/* State of an episode. Callers may read it, but change it only through the functions below.
 * Pointers are valid until episode_release(). */
struct episode {
	struct episode_plan plan;
	/* resources of the episode while it is running; NULL before and after */
	struct episode_inside *inside;
	enum episode_phase phase;
	bool failed;
	struct fh_error error; /* if `failed`: the reason of the failure */
	/* number of times that this episode was started again after a failure */
	int retried;

	int number; /* number in the name of the folder with the episode's record */
	int steps, max_steps;
	char *action; /* last action that the model chose; NULL before the first one */
	/* thought and reply of the model from which `action` came, while its step runs; NULL:
	 * none */
	const char *thought, *response;
	/*
	 * why the last request to the language model failed, while it is repeated; NULL: no failure
	 */
	char *trouble;
	char *exit_status; /* exit status of the episode; "" while it is running */
	char *traj;    /* path of the record's .traj file; NULL before the record's folder exists */
	bool recorded; /* the .traj file is complete */
	char *variant;
	struct run_scores scores;
	/*
	 * times of clock_now_ns() at the episode's start and end; 0: not yet. In the phase
	 * EPISODE_FOUND: nanoseconds since 1970
	 */
	int64_t begun_ns, ended_ns;
	struct chat_stats stats; /* number of calls, tokens and cost of the language model */
};

/* Returns true if a report names the episode: it was started, or an earlier run had finished it. */
static inline bool episode_was_begun(const struct episode *e)
{
	return e->phase > EPISODE_GIVEN_UP;
}

/* Returns true if the episode is in a final phase and will not change any more. */
static inline bool episode_is_settled(const struct episode *e)
{
	return e->phase == EPISODE_GIVEN_UP || e->phase == EPISODE_FOUND ||
			e->phase == EPISODE_ENDED;
}

void episode_init(struct episode *e, const struct episode_plan *plan);
void episode_release(struct episode *e);

/* Cancels an episode that has not begun, before it has a folder. */
void episode_give_up(struct episode *e, const struct fh_error *why);

/*
 * Returns true if the thread that writes the episode's record has ended. Then call
 * episode_recorded(). False in phases without such a thread.
 */
bool episode_is_recorded(const struct episode *e);
void episode_recorded(struct episode *e);

/* Continues an episode whose environment has finished a reset or step, as fh_gym_wait() told. */
void episode_advance(struct episode *e);

/* Continues an episode whose language model has replied, or failed to. */
void episode_thought(struct episode *e, struct chat_call *call);

/* Follows what a person ordered at the episode's desk: a step by hand, hints, or to let it go. */
void episode_taken_over(struct episode *e);

/* Stores in e->trouble why a request to the language model failed and is repeated. A chat_retry_fn
 * whose `user` is the episode. */
void episode_retried(void *episode, const struct chat_retry *retry);

/*
 * Ends the episode: interrupts its running step, and completes the record. The episode may end only
 * later, after that step.
 */
void episode_stop(struct episode *e);

/* Returns true if the episode is played in this environment. */
bool episode_has_env(const struct episode *e, const struct fh_env *env);

/* Returns the warning of the episode's environment; NULL: none. */
const char *episode_warning(const struct episode *e);

/*
 * Shows a person who plays the new output of the command that they typed. Returns false if no step
 * runs, or a language model plays.
 */
bool episode_watch(const struct episode *e);

/* Shows the running step to viewers, by the run's folder. */
void episode_look(const struct episode *e);

/* Interrupts the running step of a person who pressed Ctrl-C. Call it for each time. */
void episode_interrupt(const struct episode *e);

#endif
