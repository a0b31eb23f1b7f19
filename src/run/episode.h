/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_H
#define RUN_EPISODE_H

#include "agent/agent.h"
#include "base/buf.h"
#include "model/model.h"
#include "run/agent.h"
#include "run/episode_log.h"
#include "run/opening.h"
#include "run/past.h"
#include "trajectory/recorder.h"
#include "trajectory/run_dir.h"

#include <fumehood/env.h>

#include <stdbool.h>
#include <stdint.h>

struct episode;

/*
 * One episode of a run, from its folder to its files: a model acts in an environment, and
 * everything is recorded before the model sees it. Many of them go on in one thread: each does what
 * can be done when its environment is ready, and never waits but for a person.
 */
struct episode_plan {
	struct fh_gym *gym;
	struct openings *openings;
	const struct fh_env_options *env;
	const struct task_places *places;
	const char *model;
	const struct run_agent *agent; /* of a language model; NULL: another plays */
	const char *aliases;           /* a file that its shells source; NULL: none */
	bool edits_at_once;            /* see struct command_setup */
	const char *out, *suffix;
	const char *reward;
	uint64_t seed;
	/* of what is played again, as they were recorded; NULL: nothing is, or it is another by choice */
	const char *task_hash, *agent_hash;
	const struct run_past *past; /* what it goes on from; NULL: it begins */
	int human_in, human_out, stop_fd;
	/* Called with what reset or a step gave, once it is recorded; NULL: nobody looks. */
	void (*played)(void *user, const struct episode *e, const struct fh_step *step);
	void *played_user;
};

enum episode_phase {
	EPISODE_PLANNED,
	EPISODE_GIVEN_UP, /* before it began: `error` says why */
	EPISODE_FOUND,    /* it was there already, and over: what is kept below is of its record */
	EPISODE_OPENING,  /* by a thread */
	EPISODE_RESETTING,
	EPISODE_THINKING, /* a language model is asked */
	EPISODE_STEPPING,
	EPISODE_LEAVING, /* it has ended in the middle, and its memory is kept */
	EPISODE_ENDED,   /* with an exit status, or by an error: `failed` */
};

struct episode {
	struct episode_plan plan;
	enum episode_phase phase;
	bool failed;
	int retried;           /* so often it was begun again, since it broke */
	bool stopping;         /* it ends with the step that is under way */
	struct fh_error error; /* why, if failed */

	/* what is there while it goes on; NULL after it */
	struct opening *opening; /* which takes this and the next from it, when it is over */
	struct fh_env *env;
	struct model *model; /* or these two */
	struct chat_model *chat;
	struct agent *agent;
	struct recorder *recorder;
	struct recorder_turn turn; /* of the step that runs */
	struct episode_log log;
	bool resumed;     /* with a past: all of it was played again */
	size_t different; /* observations of it that were others */

	/* for those who look: kept until episode_release() */
	int number; /* of its folder */
	int steps, max_steps;
	char *metric;
	bool maximize;
	char *action;      /* the last one, NULL before the first */
	char *trouble;     /* why its model has to be asked again; NULL: it has not */
	char *exit_status; /* "" while there is none */
	char *traj;        /* path of the .traj, NULL until there is a folder */
	bool recorded;     /* and it is there, with every step */
	char *variant;
	struct buf scores;         /* JSON: the objects of all scores, with commas between them */
	struct buf baseline, best; /* JSON: an object or null */
	double baseline_value, best_value; /* of the metric; NAN: none */
	double score_value;                /* of the last step; NAN: it was not scored */
	int64_t begun_ns, ended_ns;        /* of clock_now_ns(); 0: not yet */
	struct chat_stats stats;           /* of a language model, at the end */
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

/* Ends an episode that was only planned: it leaves no folder. */
void episode_give_up(struct episode *e, const struct fh_error *why);

void episode_init(struct episode *e, const struct episode_plan *plan);
void episode_release(struct episode *e);

/* Begins to open what it needs. After it, and after each of the next three, the phase says whether it goes on. */
void episode_start(struct episode *e);

/* Call when its opening is over. */
void episode_opened(struct episode *e);

/* Call when fh_gym_wait() returned its environment. */
void episode_advance(struct episode *e);

/* Call when its language model has answered. */
void episode_thought(struct episode *e);

/* When its language model did not answer, and will be asked again: a chat_retry_fn of calls whose user is the
 * episode. */
void episode_retried(void *episode, const struct chat_retry *retry);

/* Ends it in order, as soon as the step that runs can be ended. */
void episode_stop(struct episode *e);

#endif
