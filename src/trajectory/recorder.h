/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_RECORDER_H
#define TRAJECTORY_RECORDER_H

#include "python/pyjson.h"

#include <fumehood/env.h>

#include <stdbool.h>

/*
 * The record of one episode: events.jsonl in the folder of its run (docs/trajectory.md has every
 * event), and at its end the files that MLGym would have written, made from the events.
 *
 * The order is the caller's duty: reset, steps, end, each after the environment has done it and
 * before anybody else is told. What fails once fails from then on; the caller ends the run and says
 * so. Used by one thread at a time.
 */
struct recorder;

/* For fh_env_options.max_text_bytes. A .traj has each text up to four times, and is to stay below
 * TRAJ_BYTES_MAX whatever the last step brings. */
#define RECORDER_TEXT_BYTES (64L * 1024 * 1024)

struct recorder_options {
	const char *dir; /* of the run; there, and without events unless resume is set */
	const struct fh_env_info *env;
	const char *model;
	const char *agent_config;      /* NULL: none */
	const char *agent_config_path; /* its file; NULL: it is installed, under that name */
	const char *agent_hash;        /* of what is in it; NULL: none */
	int run;                       /* the number in the folder's name */
	const char *reward;            /* "delta", ... */
	bool resume;                   /* the events that are there go on */
};

int recorder_open(const struct recorder_options *options, struct recorder **out,
		struct fh_error *err);

int recorder_reset(struct recorder *r, uint64_t seed, const struct fh_step *step,
		struct fh_error *err);

/* Before the first event of a run that goes on: how much of what is recorded holds. */
struct recorder_resumed {
	int steps, messages; /* the first so many */
	int different;       /* observations that were others when the steps were played again */
	const char *task_hash, *agent_hash; /* as they are now */
};

int recorder_resumed(
		struct recorder *r, const struct recorder_resumed *resumed, struct fh_error *err);

/* What a model said. A model that only gives actions has no response and no thought: both NULL. */
struct recorder_turn {
	const char *action;
	const char *response;
	const char *thought;
};

/* A step that was scored, and the last one, are on the disk when this returns. */
int recorder_step(struct recorder *r, const struct recorder_turn *turn, const struct fh_step *step,
		struct fh_error *err);

/*
 * A message of the conversation, for those who hold one with a model: the history of the .traj is
 * then these messages. Without any, it is made from the steps.
 */
struct recorder_message {
	const char *role, *content;
	const char *thought, *action; /* of an assistant; NULL */
	bool is_demo;
};

int recorder_message(
		struct recorder *r, const struct recorder_message *message, struct fh_error *err);

/* What the model has cost so far, an object: so that a process that is killed does not take it along. */
int recorder_spent(struct recorder *r, const struct pyjson *model_stats, struct fh_error *err);

struct recorder_end {
	const char *exit_status; /* NULL: that of the last step */
	const char *error;       /* what broke it, whatever its last step says; NULL: nothing */
	const struct pyjson *model_stats; /* an object; NULL: nothing was asked and paid for */
};

/* Closes the record and writes <task>.traj and results.json. The episode counts as over when its last step ended
 * it and nothing broke. */
int recorder_end(struct recorder *r, const struct recorder_end *end, struct fh_error *err);

/* Path of the .traj, which is there after recorder_end(). Lives as long as the recorder. */
const char *recorder_traj(const struct recorder *r);

void recorder_close(struct recorder *r); /* NULL is fine */

#endif
