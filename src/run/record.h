/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RECORD_H
#define RUN_RECORD_H

#include "run/episode_log.h"
#include "run/episode_plan.h"
#include "trajectory/live.h"
#include "trajectory/recorder.h"
#include "trajectory/run_dir.h"

/* Record of an episode: its log, and the run's folder with args.yaml and events.jsonl. */
struct run_record {
	struct recorder *recorder; /* writer of the files in the run's folder; NULL: no folder */
	struct episode_log log;
	/* number in the name of the run's folder, or the caller's number if there is no folder */
	int number;
	char *dir; /* path of the run's folder; NULL: none */
};

struct run_record_start {
	/*
	 * Plan of the episode. plan->env is NULL if a client of `fumehood env` plays: there is no
	 * args.yaml then.
	 */
	const struct episode_plan *plan;
	const struct fh_env_info *info;
	const char *model; /* name of the model in the folder's name */
	/* the run's language model; NULL: none plays, but for example a baseline */
	const struct chat_model *chat;
	const char *warning;    /* warning of the environment to write into the log; NULL: none */
	const char *resume_dir; /* folder of the run to resume; NULL: a new folder is made */
	/* training step of the policy that plays, for the name of the .traj; NULL: none */
	const int64_t *policy_step;
	int resume_number; /* number at the end of the name of the folder resume_dir */
};

/*
 * Opens the gym of a run or a server, and logs its warning. `out` is the folder of all records;
 * NULL: none. It is made, and hidden from sandboxes: an agent must not read other episodes.
 */
int run_record_open_gym(const struct fh_gym_options *options, const char *out,
		struct fh_gym **out_gym, struct fh_error *err);

/* Makes the parts of the name of a run's folder. `model` is like "actions-games", `task` like
 * "titanic:micro". */
struct run_name run_record_name(
		const struct episode_plan *plan, const char *model, const char *task);

void run_record_init(struct run_record *r, const char *task);
/* Closes the record. Without a call of run_record_end() before, the record lacks its last files. */
void run_record_release(struct run_record *r);

/* Starts a record in a new folder or in that of a resumed run. If plan->out is NULL, there is only
 * a log. */
int run_record_open(
		struct run_record *r, const struct run_record_start *start, struct fh_error *err);

/*
 * File in the run's folder: a copy of the agent's memory file at the episode's start, for replays.
 */
#define RUN_MEMORY_FILE "memory.json"
/* Copies the agent's memory file (its notes) into the run's folder. Call it before the reset is
 * recorded. */
int run_record_memory(const struct run_record *r, const struct fh_env *env, struct fh_error *err);

/* Shows watchers the step that is being taken (trajectory/live.h). `now` has the phase, and the
 * texts of the step. Call it every LIVE_LOOK_MS or so, not while another thread uses the record. */
void run_record_look(struct run_record *r, struct fh_env *env, struct live_now now);

/* Reads the language model's calls, tokens and cost from a record's model_stats. All are 0 if this
 * is NULL. */
struct chat_stats run_record_stats(const struct pyjson *model_stats);

/* Records the language model's calls, tokens and cost so far. */
int run_record_spent(struct run_record *r, const struct chat_stats *stats, struct fh_error *err);

/* Ends the record and writes its last files. Sets end->model_stats from `stats`, which may be NULL.
 * The caller leaves end->model_stats NULL. */
int run_record_end(struct run_record *r, const struct recorder_end *end,
		const struct chat_stats *stats, struct fh_error *err);

#endif
