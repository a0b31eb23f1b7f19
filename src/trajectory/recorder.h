/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_RECORDER_H
#define TRAJECTORY_RECORDER_H

#include "python/pyjson.h"

#include <fumehood/env.h>

#include <stdbool.h>

/*
 * The record of an episode: events.jsonl in the folder of its run (docs/trajectory.md lists the
 * events). At its end MLGym's files are made from the events.
 *
 * The caller records reset, steps and end in this order, before anyone sees the observation. After
 * a failure all later calls fail; the caller then ends the run. Not for several threads at a time.
 */
struct recorder;

/* For fh_env_options.max_text_bytes: a .traj, which has each text up to four times, then stays
 * below TRAJ_BYTES_MAX. */
#define RECORDER_TEXT_BYTES (64L * 1024 * 1024)

struct recorder_options {
	const char *dir; /* the existing folder of the run; without events unless resume */
	const struct fh_env_info *env;
	const char *model;
	const char *agent_config;      /* NULL: none */
	const char *agent_config_path; /* path of its file; NULL: it is installed */
	const char *agent_hash;        /* hash of its contents; NULL: none */
	int run;                       /* number in the name of the folder */
	const char *reward;            /* "delta", ... */
	bool resume;                   /* append to the events */
};

int recorder_open(const struct recorder_options *options, struct recorder **out,
		struct fh_error *err);

int recorder_reset(struct recorder *r, uint64_t seed, const struct fh_step *step,
		struct fh_error *err);

/* The part of the record that holds. Record it before other events of a resumed run. */
struct recorder_resumed {
	int steps, messages; /* the first ones, up to this number */
	int different;       /* observations that differed when the steps were played again */
	const char *task_hash, *agent_hash; /* as they are now */
};

int recorder_resumed(
		struct recorder *r, const struct recorder_resumed *resumed, struct fh_error *err);

/* The answer of a model. Response and thought are NULL if the model only gives actions. */
struct recorder_turn {
	const char *action;
	const char *response;
	const char *thought;
};

/* Syncs the record to the disk if the step was scored or is the last one. */
int recorder_step(struct recorder *r, const struct recorder_turn *turn, const struct fh_step *step,
		struct fh_error *err);

/* A message of a conversation with a model. The messages are the history of the .traj. Without any,
 * the history is made from the steps. */
struct recorder_message {
	const char *role, *content;
	const char *thought, *action; /* only for an assistant; else NULL */
	bool is_demo;
};

int recorder_message(
		struct recorder *r, const struct recorder_message *message, struct fh_error *err);

/* Records the cost of the model so far, an object, so that it survives a kill. */
int recorder_spent(struct recorder *r, const struct pyjson *model_stats, struct fh_error *err);

struct recorder_end {
	const char *exit_status;          /* NULL: as in the last step */
	const char *error;                /* the error that broke the run; NULL: none */
	const struct pyjson *model_stats; /* an object; NULL: no call was paid for */
};

/* Ends the record and writes <task>.traj and results.json. The episode is recorded as over if its
 * last step ended it and there was no error. */
int recorder_end(struct recorder *r, const struct recorder_end *end, struct fh_error *err);

/* Path of the .traj that recorder_end() writes. Lives as long as the recorder. */
const char *recorder_traj(const struct recorder *r);

void recorder_close(struct recorder *r); /* NULL is fine */

#endif
