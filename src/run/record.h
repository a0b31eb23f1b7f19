/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RECORD_H
#define RUN_RECORD_H

#include "run/episode_log.h"
#include "run/episode_plan.h"
#include "trajectory/recorder.h"
#include "trajectory/run_dir.h"

/* Record of an episode: its log, and the folder of its run with args.yaml and the events. */
struct run_record {
	struct recorder *recorder; /* NULL: not open */
	struct episode_log log;
	int number; /* the folder's; without a folder, the caller's */
	char *dir;  /* NULL: none */
};

struct run_record_start {
	const struct episode_plan
			*plan; /* env NULL: a client of `fumehood env` plays; no args.yaml */
	const struct fh_env_info *info;
	const char *model;             /* label of the model */
	const struct chat_model *chat; /* NULL: no language model plays */
	const char *warning;           /* the environment's; NULL: none */
	const char *resume_dir;        /* folder of the run to resume; NULL: a new folder is made */
	int resume_number;             /* the number of resume_dir */
};

/* The parts of the folder's name, for a model ("actions-games") and a task ("titanic:micro"). */
struct run_name run_record_name(
		const struct episode_plan *plan, const char *model, const char *task);

void run_record_init(struct run_record *r, const char *task);
/* Closes the record as it is. */
void run_record_release(struct run_record *r);

/* Makes the folder, or takes that of a resumed run. Without plan->out there is only a log. */
int run_record_open(
		struct run_record *r, const struct run_record_start *start, struct fh_error *err);

/* File with the agent's memory as the episode began, so that a replay can begin with it. */
#define RUN_MEMORY_FILE "memory.json"
/* Writes the file. Call it before the reset is recorded. */
int run_record_memory(const struct run_record *r, const struct fh_env *env, struct fh_error *err);

/* Cost and calls of the language model, from its record; zeros for NULL. */
struct chat_stats run_record_stats(const struct pyjson *model_stats);

/* Records what the language model has cost so far. */
int run_record_spent(struct run_record *r, const struct chat_stats *stats, struct fh_error *err);

/* Ends the record and writes its files. Leave end->model_stats NULL: `stats` takes their
 * place, and may be NULL. */
int run_record_end(struct run_record *r, const struct recorder_end *end,
		const struct chat_stats *stats, struct fh_error *err);

#endif
