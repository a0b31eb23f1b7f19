/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_REPLAY_H
#define RUN_REPLAY_H

#include "base/arena.h"
#include "run/agent.h"
#include "run/episode.h"
#include "run/episode_options.h"
#include "run/opening.h"
#include "run/replay_files.h"
#include "task/find.h"
#include "task/task.h"
#include "trajectory/compare.h"
#include "trajectory/traj.h"

/*
 * Plays the actions of a recorded run again, with its task and seed, and compares both runs.
 * Nothing is printed.
 */

struct replay_options {
	struct episode_options episode;
	/* options of a replay; NULL: the recorded task and agent, and the default folder for the
	 * new record */
	const char *task, *agent, *out;
	struct texts gpus;
	int tools; /* value of the option --tools, as an index into episode_tools */
	bool tools_given;
	bool files; /* note the files of the workspace after each step: replay_files.h */
	const struct warner *warner;
};

struct replay {
	const struct replay_options *options;
	struct arena arena;
	struct task_places places;
	struct fh_env_options env;
	struct run_agent agent;
	const int *gpus;
	const char *name; /* path of a .traj file or of a run's folder, as the user named it */
	char *path;       /* path of the .traj file of the recorded run */
	const char *model;
	char *out;
	const char *own_root; /* MLGym checkout that the user who replays named; NULL: none */
	const char *aliases;  /* path of a file that the sandbox's shells source; NULL: none */
	/* name or path of the agent's configuration to load; NULL: no agent played */
	const char *agent_spec;
	/* hosts in the web that the recorded agent's tools could use; NULL: not recorded */
	const char *web_hosts;
	/* recorded hashes of the task's and agent's files; NULL: not recorded */
	const char *task_hash, *agent_hash;
	/* SECRET_KEYS_VERSION (how keys are derived from the machine's secret) of the build that
	 * recorded the run */
	int64_t keys;
	/* true: an earlier replay of this process has given warnings that need no repetition */
	bool is_next;
	/* True: the record or the user's options tell whether the task is MLGym's or Fumehood's
	 * own. */
	bool place_is_known;
	uint64_t seed;
	/*
	 * Times at which the recorded run and the replay started, in seconds since 1970; 0: not
	 * recorded.
	 */
	int64_t recorded_s, now_s;
	int reward;
	bool original_tools, stopping;
	struct traj *recorded, *now; /* records of both runs; `now` is set by replay_compare() */
	struct episode episode;
	struct replay_files files;
	int64_t record_bytes; /* size of the record when it was read */
	struct fh_gym *gym;
	struct openings openings;
};

/* Prepares an empty replay. The pointers stay valid until replay_close(). */
void replay_init(struct replay *r, const struct replay_options *options, const char *name);

/* Reads the record and plans the episode. An option replaces the recorded value. Recorded binds
 * and similar options are ignored with a warning: only the user may give them. -EPERM: the
 * recorded task would show files of this machine, or use its network. */
int replay_prepare(struct replay *r, struct fh_error *err);

/* Plays the recorded actions, until the last or until stop_fd becomes readable. */
int replay_play(struct replay *r, int stop_fd, struct fh_error *err);

/* Returns true if a thread still opens the environment after a stop. If so, call no function to
 * close it, and end the process with _exit(). */
bool replay_is_opening(const struct replay *r);

struct replay_verdicts {
	size_t n[COMPARE_VERDICTS]; /* number of steps for each verdict of enum compare_verdict */
	size_t missing;             /* number of steps that one run has and the other has not */
	size_t first;               /* first step that is different or missing, from 1; 0: none */
};

/* A step that both runs have, with its recorded and its new observation. If the runs' states
 * after it differ more than the observations, `then` and `now` are the states. */
struct replay_step {
	const char *action;
	struct compare_text then, now;
	enum compare_verdict verdict;
};

/* Compares the recorded and the new run. Calls `on` for each step that both runs have, counted
 * from 0. Call it after replay_play(). */
int replay_compare(struct replay *r,
		void (*on)(void *user, size_t i, const struct replay_step *step), void *user,
		struct replay_verdicts *out, struct fh_error *err);

/* Writes the noted files into the folder of the recorded run, after replay_compare(). A warning
 * tells if those of some steps are left out. */
int replay_write_files(
		struct replay *r, const struct replay_verdicts *verdicts, struct fh_error *err);

void replay_close(struct replay *r);

#endif
