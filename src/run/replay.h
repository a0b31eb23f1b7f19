/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_REPLAY_H
#define RUN_REPLAY_H

#include "base/arena.h"
#include "run/agent.h"
#include "run/episode.h"
#include "run/episode_options.h"
#include "run/opening.h"
#include "task/task.h"
#include "trajectory/compare.h"
#include "trajectory/traj.h"

/*
 * Plays the actions of a recorded run again, and compares both runs. The episode has the same task
 * and seed. Nothing is printed.
 */
struct replay_options {
	struct episode_options episode;
	const char *task, *agent, *out; /* NULL: as recorded; out: the default folder */
	struct texts gpus;
	int tools; /* index into episode_tools */
	bool tools_given;
	const struct warner *warner;
};

struct replay {
	const struct replay_options *options;
	struct arena arena;
	struct task_places places;
	struct fh_env_options env;
	struct run_agent agent;
	const int *gpus;
	const char *name; /* a .traj, or the folder of a run */
	char *path;       /* the record's */
	const char *model;
	char *out;
	const char *own_root;               /* the checkout that this user chose; NULL: none */
	const char *aliases;                /* a file that its shells source; NULL: none */
	const char *agent_spec;             /* NULL: no agent led the run */
	const char *web_hosts;              /* in the record; NULL: not recorded */
	const char *task_hash, *agent_hash; /* the same */
	int64_t keys;                       /* see episode_recorded_keys() */
	bool is_next;        /* another was prepared before: some warnings are given once */
	bool place_is_known; /* whether its task is of a checkout, or ours */
	uint64_t seed;
	int64_t recorded_s, now_s; /* when it began, then and now; 0: not recorded */
	int reward;
	bool original_tools, stopping;
	struct traj *recorded, *now; /* now: set by replay_compare() */
	struct episode episode;
	struct fh_gym *gym;
	struct openings openings;
};

/* Options and name stay the caller's. */
void replay_init(struct replay *r, const struct replay_options *options, const char *name);

/* Reads the record and plans the episode; options win over the record. Warns of binds and the like,
 * which a record can't ask for. -EPERM: the record's own task would give its actions files or the
 * network of this machine. */
int replay_prepare(struct replay *r, struct fh_error *err);

/* Plays it, until stop_fd becomes readable. */
int replay_play(struct replay *r, int stop_fd, struct fh_error *err);

/* Whether a thread still opens the task after a stop. Then close nothing, and end the process with
 * _exit(). */
bool replay_is_opening(const struct replay *r);

struct replay_verdicts {
	size_t n[COMPARE_VERDICTS]; /* steps, by enum compare_verdict */
	size_t missing;             /* steps that only one of both has */
};

/* A step of both runs: its observation then and now, or its state if that differs more. */
struct replay_step {
	const char *action;
	struct compare_text then, now;
	enum compare_verdict verdict;
};

/* Compares both runs after replay_play(). `on` is called with each step that both have, from 0. */
int replay_compare(struct replay *r,
		void (*on)(void *user, size_t i, const struct replay_step *step), void *user,
		struct replay_verdicts *out, struct fh_error *err);

void replay_close(struct replay *r);

#endif
