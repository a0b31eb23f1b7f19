/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "run/opening.h"
#include "run/plan.h"

/*
 * A run: episodes of tasks that models play, by a plan (plan.h). A single thread drives up to
 * `jobs` episodes at a time, in the order of the plan. Nothing is printed. The callback `on` gets
 * each event.
 */
enum run_event {
	RUN_BEGAN,   /* an episode's environment has opened */
	RUN_STEPPED, /* an episode's model has acted, or its environment was reset */
	RUN_AGAIN,   /* an episode failed and is started again: its `error` says why */
	/* an earlier run had finished the episode, or it was cancelled before it began */
	RUN_FOUND,
	RUN_ENDED,    /* an episode reached its final phase */
	RUN_STOPPING, /* stop_fd became readable: all episodes are told to end */
	RUN_WAITS,    /* the run has nothing to do until a model or sandbox reports */
};

struct run_play {
	/* Called with each event. The episode is NULL for RUN_STOPPING and RUN_WAITS. */
	void (*on)(void *user, enum run_event event, const struct episode *e);
	/* Called with the result of each step, after it was recorded. NULL: not called. */
	void (*played)(void *user, const struct episode *e, const struct fh_step *step);
	void *user;      /* passed to both callbacks */
	int stop_fd;     /* when readable, the run ends its episodes in order; -1: none */
	int wake_fd;     /* when readable, RUN_WAITS is sent; its callback must read it; -1: none */
	int interval_ms; /* most milliseconds between two RUN_WAITS; -1: no limit */
};

struct run {
	const struct run_options *options;
	struct run_plan plan;
	struct fh_gym *gym;
	struct openings openings;
	int jobs;
	size_t begun, ended; /* number of episodes that have begun, and ended */
	bool stopping;
	const char *warned; /* task whose warning was reported last */
	struct run_play play;
};

/* Prepares an empty run. The options stay valid until run_close(). */
void run_init(struct run *run, const struct run_options *options);

/* Plans all episodes, into run->plan. Fails if one of them can't be played. */
int run_prepare(struct run *run, struct fh_error *err);

/* Opens the gym that all episodes share. Call it after run_prepare(). -ENOENT, -EINVAL: an option
 * is wrong, or names something missing. */
int run_open(struct run *run, struct fh_error *err);

/* Plays all planned episodes and waits for their end. After a stop no new episode begins. The
 * `error` of each episode has its failure: it is not returned. */
int run_play(struct run *run, const struct run_play *play, struct fh_error *err);

/* Whether threads still open environments after a stop. If so, call no function to close them, and
 * end the process with _exit(). */
bool run_is_opening(const struct run *run);

void run_close(struct run *run);

#endif
