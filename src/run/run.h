/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "run/opening.h"
#include "run/plan.h"

/*
 * A run: episodes of some tasks, played by models (plan.h). A single thread drives all of them, at
 * most `jobs` at a time, in the order of the plan. Nothing is printed: the callback `on` gets each
 * event.
 */
enum run_event {
	RUN_BEGAN,    /* an episode: its task is open */
	RUN_STEPPED,  /* it has acted, or was reset */
	RUN_AGAIN,    /* it failed and is about to begin again: its error says why */
	RUN_FOUND,    /* it had ended before, or was given up before it began */
	RUN_ENDED,    /* it will not change any more */
	RUN_STOPPING, /* stop_fd became readable: all episodes are told to end */
	RUN_WAITS,    /* nothing can be done now */
};

struct run_play {
	/* The episode is NULL for RUN_STOPPING and RUN_WAITS. */
	void (*on)(void *user, enum run_event event, const struct episode *e);
	/* Called with the result of each step, after it was recorded; NULL: not called. */
	void (*played)(void *user, const struct episode *e, const struct fh_step *step);
	void *user;      /* for both */
	int stop_fd;     /* readable: the episodes end in order; -1: never */
	int wake_fd;     /* readable: RUN_WAITS comes, whose callback must read it; -1: never */
	int interval_ms; /* RUN_WAITS comes at least so often; -1: when there is something to do */
};

struct run {
	const struct run_options *options;
	struct run_plan plan;
	struct fh_gym *gym;
	struct openings openings;
	int jobs;
	size_t begun, ended; /* numbers of episodes */
	bool stopping;
	const char *warned; /* the task whose warning came last */
	struct run_play play;
};

/* Opens nothing. The options stay the caller's until run_close(). */
void run_init(struct run *run, const struct run_options *options);

/* Plans all episodes, into run->plan. Fails before anything runs if one can't be played. */
int run_prepare(struct run *run, struct fh_error *err);

/* Call it after run_prepare(): opens what all episodes share. -ENOENT, -EINVAL: the options can't
 * be honoured. */
int run_open(struct run *run, struct fh_error *err);

/* Returns when all episodes have ended, or after a stop all that had begun. An episode that fails
 * keeps its own error. */
int run_play(struct run *run, const struct run_play *play, struct fh_error *err);

/* Whether threads still open tasks after a stop. Then close nothing, and end the process with
 * _exit(). */
bool run_is_opening(const struct run *run);

void run_close(struct run *run);

#endif
