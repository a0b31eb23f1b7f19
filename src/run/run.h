/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "run/opening.h"
#include "run/plan.h"

/*
 * A run: episodes of some tasks, played by models (plan.h). One thread drives all of them by the pollable form of the
 * environments, at most `jobs` at a time, in the order in which they are named. Nothing is printed: the caller's `on`
 * is told what happens.
 */
enum run_event {
	RUN_BEGAN,    /* an episode: its task is open */
	RUN_STEPPED,  /* it has acted, or was reset */
	RUN_AGAIN,    /* it broke and is about to begin again: its error says why */
	RUN_FOUND,    /* it was there already, or nobody pays for it */
	RUN_ENDED,    /* nothing more will come of it */
	RUN_STOPPING, /* stop_fd became readable: all episodes are told to end */
	RUN_WAITS,    /* nothing can be done now */
};

struct run_play {
	/* The episode is NULL for RUN_STOPPING and RUN_WAITS. */
	void (*on)(void *user, enum run_event event, const struct episode *e);
	/* What reset or a step gave, once it is recorded; NULL: nobody looks. */
	void (*played)(void *user, const struct episode *e, const struct fh_step *step);
	void *user;      /* of both */
	int stop_fd;     /* readable: the episodes end in order; -1: never */
	int wake_fd;     /* readable: RUN_WAITS comes, which is to make it quiet again; -1: never */
	int interval_ms; /* RUN_WAITS comes at least so often; -1: when there is something to do */
};

struct run {
	const struct run_options *options;
	struct run_plan plan;
	struct fh_gym *gym;
	struct openings openings;
	int jobs;
	size_t begun, ended; /* of the plan's episodes */
	bool stopping;
	const char *warned; /* of this task */
	struct run_play play;
};

/* Nothing is there yet. The options stay the caller's until run_close(). */
void run_init(struct run *run, const struct run_options *options);

/* Plans all episodes, which are in run->plan then. What can't be played is an error before anything runs. */
int run_prepare(struct run *run, struct fh_error *err);

/* After that: what all episodes share. -ENOENT, -EINVAL: what was asked for can't be. */
int run_open(struct run *run, struct fh_error *err);

/* Until all episodes have ended, or all that were begun when it is stopped. What ends one episode is its own error. */
int run_play(struct run *run, const struct run_play *play, struct fh_error *err);

/* Whether threads still open tasks after a stop: then nothing may be closed, and only _exit() ends the process. */
bool run_is_opening(const struct run *run);

void run_close(struct run *run);

#endif
