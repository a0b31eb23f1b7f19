/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "run/opening.h"
#include "run/plan.h"

/*
 * A run: models play episodes of tasks by a plan (plan.h). A single thread plays up to `jobs`
 * episodes at a time, in the order of the plan. It prints nothing. The callback `on` gets each
 * event.
 */

enum run_event {
	RUN_BEGAN,   /* an episode's environment has opened */
	RUN_STEPPED, /* an episode's model has acted, or its environment was reset */
	RUN_AGAIN,   /* an episode failed, and is started again: its `error` has the reason */
	/* an episode needs no playing: an earlier run had finished it, or it was cancelled */
	RUN_FOUND,
	RUN_ENDED,    /* an episode has ended: it has reached its final phase */
	RUN_STOPPING, /* stop_fd became readable: all episodes are told to end */
	RUN_WAITS,    /* the run has nothing to do until a model or a sandbox answers */
};

struct run_play {
	/* Callback for events of the run. The episode is NULL for RUN_STOPPING and RUN_WAITS. */
	void (*on)(void *user, enum run_event event, const struct episode *e);
	/* Callback for the result of each step, after it was recorded. NULL: not called. */
	void (*played)(void *user, const struct episode *e, const struct fh_step *step);
	/* Callback for each reply of a model that led to no step. NULL: not called. */
	void (*rejected)(void *user, const struct conversation_verdict *verdict);
	void *user; /* argument for all callbacks */
	/* descriptor that ends the run when it becomes readable: episodes end and complete their
	 * records; -1: none */
	int stop_fd;
	/*
	 * descriptor that wakes a waiting run, which then sends RUN_WAITS; its callback must read
	 * the descriptor; -1: none
	 */
	int wake_fd;
	/* mailbox of a person who may take over episodes (takeover.h); NULL: none */
	struct takeover *takeover;
	/* A waiting run sends RUN_WAITS at least this often, in milliseconds; -1: no limit. */
	int interval_ms;
};

struct run {
	const struct run_options *options;
	struct run_plan plan;
	struct fh_gym *gym;
	struct openings openings;
	int jobs;
	/*
	 * number of episodes that have begun or were skipped, and of those among them that have
	 * ended
	 */
	size_t begun, ended;
	bool stopping;
	/* task of the environment that opened last, so that its warning is not repeated */
	const char *warned;
	struct run_play play;
	int64_t look_ns; /* time of the next look at the running steps */
	size_t looked;   /* how often the running steps were looked at */
};

/* Prepares an empty run. The options stay valid until run_close(). */
void run_init(struct run *run, const struct run_options *options);

/*
 * Plans all episodes, into run->plan. Fails if one of them can't be played; with `--task all` it is
 * left out.
 */
int run_prepare(struct run *run, struct fh_error *err);

/* Opens the gym that all episodes share. Call it after run_prepare(). -ENOENT, -EINVAL: an option
 * is wrong, or names something missing. */
int run_open(struct run *run, struct fh_error *err);

/* Plays all planned episodes and waits for their end. After a stop no new episode begins. The
 * `error` of each episode has its failure: it is not returned. */
int run_play(struct run *run, const struct run_play *play, struct fh_error *err);

/* Returns true if threads are still opening environments after a stop. If so, don't call
 * run_close(), and end the process with _exit(). */
bool run_is_opening(const struct run *run);

void run_close(struct run *run);

#endif
