/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_RECORDER_H
#define TRAJECTORY_RECORDER_H

#include "python/pyjson.h"

#include <fumehood/env.h>

#include <stdbool.h>

/*
 * The record of an episode: events.jsonl in the run's folder (docs/trajectory.md lists the events).
 * When the episode ends, MLGym's files are made from the events.
 *
 * The caller records reset, steps and end in this order, before anyone sees an observation. After a
 * failure all later calls fail, and the caller must end the run. Only one thread at a time may use
 * a recorder.
 */
struct recorder;

/* Value for fh_env_options.max_text_bytes. A .traj repeats each text up to four times. With this
 * limit its size stays below TRAJ_BYTES_MAX. */
#define RECORDER_TEXT_BYTES (64L * 1024 * 1024)

struct recorder_options {
	/* path of the run's folder, which exists; it has no events.jsonl unless `resume` is set */
	const char *dir;
	const struct fh_env_info *env;
	const char *model;
	const char *agent_config; /* name of the agent's configuration; NULL: none */
	/* path of the agent's configuration; NULL: an installed one */
	const char *agent_config_path;
	/* hash of the agent's configuration; NULL: the run has none */
	const char *agent_hash;
	const char *history; /* name of the agent's history processor; NULL: none */
	int history_n;       /* number of observations that it keeps; 0: all, or a fixed number */
	int run;             /* number of the run, as in the name of its folder */
	const char *reward;  /* name of the reward: "delta", ... */
	/* training step of the policy that plays, for the name of the .traj; NULL: none */
	const int64_t *policy_step;
	int64_t output_bytes; /* as in fh_env_options; 0: the task's limit */
	bool resume;          /* append to an existing events.jsonl, because the run is resumed */
};

int recorder_open(const struct recorder_options *options, struct recorder **out,
		struct fh_error *err);

int recorder_reset(struct recorder *r, uint64_t seed, const struct fh_step *step,
		struct fh_error *err);

/* How much of the earlier record a resumed run keeps. Record this event before others of the
 * resumed run. */
struct recorder_resumed {
	int steps, messages; /* number of recorded steps and messages that a resumed run keeps */
	/* number of observations that differed when a resumed run played the kept steps again */
	int different;
	/* Hashes of the files of task and agent when the run was resumed. A later `run
	 * --skip-existing` compares them with its own, to tell whether this run counts. */
	const char *task_hash, *agent_hash;
};

int recorder_resumed(
		struct recorder *r, const struct recorder_resumed *resumed, struct fh_error *err);

/* Decision of a model on its next action. Response and thought are NULL if the model gives only
 * actions. */
struct recorder_turn {
	const char *action;
	const char *response;
	const char *thought;
	const struct pyjson *numbers; /* object of the caller; NULL: none */
	bool by_person;               /* a person took the step in place of the model */
};

/* Records a step of the episode. */
int recorder_step(struct recorder *r, const struct recorder_turn *turn, const struct fh_step *step,
		struct fh_error *err);

/* Returns true if recorder_step() waits until the record is on the disk. It does so if the step was
 * scored or ended the episode. */
bool recorder_syncs(const struct fh_step *step);

/* A call of a tool in a reply of a model. `arguments` is what the model wrote, JSON or not. */
struct recorder_use {
	const char *id, *name, *arguments;
};

/* A message of a conversation with a model. The recorded messages become the history of the .traj.
 * Without messages, the history is made from the steps. */
struct recorder_message {
	const char *role, *content;
	const char *thought, *action;    /* set if the message's role is "assistant", else NULL */
	bool is_demo, is_hint;           /* part of a demonstration; a person's hint */
	const struct recorder_use *uses; /* tool calls of a reply */
	size_t n_uses;
	const char *use_id; /* id of the tool call that the message answers; NULL: none */
	/* JSON list of the tools that the model may call, in the first message; NULL: none */
	const char *tools;
};

int recorder_message(
		struct recorder *r, const struct recorder_message *message, struct fh_error *err);

/* A reply that led to no step, because its action can't be parsed ("format") or is blocked
 * ("blocked"). The conversation leaves it out. */
struct recorder_fault {
	const char *kind, *response;
	const struct recorder_use *uses;
	size_t n_uses;
	const char *complaint; /* text of the answer to the model */
};

int recorder_fault(struct recorder *r, const struct recorder_fault *fault, struct fh_error *err);

/* A call of a language model by a foreign agent. New messages of the call are recorded before. */
struct recorder_call {
	int number;       /* number of the call, from 1 */
	const char *line; /* "METHOD PATH" of the HTTP request */
	int status;       /* HTTP status that the agent got */
	double seconds;
	/* JSON texts: the request, with only those messages that are new; and the answer */
	const char *request, *answer;
	int64_t old_messages; /* number of messages that were left out */
	int64_t tokens_sent, tokens_received;
	double cost;
};

int recorder_call(struct recorder *r, const struct recorder_call *call, struct fh_error *err);

/* Records a `validate` that was scored while a command plays as the agent, as an event `score`. Or
 * records the command's `submit`. */
int recorder_asked(struct recorder *r, bool is_submit, const struct fh_step *told,
		struct fh_error *err);

/* Records the cost of the model so far, so that it is known even if the process is killed.
 * `model_stats` is an object. */
int recorder_spent(struct recorder *r, const struct pyjson *model_stats, struct fh_error *err);

/* An order of a person who took over: "pause", "let_go", "hint", "interrupt". */
struct recorder_order {
	const char *kind;
	int step;         /* number of the next step when the run followed the order */
	const char *text; /* text of a hint; NULL: the order is none */
	const char *time; /* time at which the person gave the order */
};

int recorder_order(struct recorder *r, const struct recorder_order *order, struct fh_error *err);

struct recorder_end {
	const char *exit_status; /* exit status of the episode; NULL: use that of the last step */
	/* message of the error that ended the run; NULL: no error */
	const char *error;
	/* Object with calls, tokens and cost of the model; NULL: the run has no language model. */
	const struct pyjson *model_stats;
	const struct pyjson *numbers; /* object of the caller; NULL: none */
};

/* Ends the record and writes <task>.traj and results.json. The record counts as finished if the
 * last step ended the episode and there was no error. */
int recorder_end(struct recorder *r, const struct recorder_end *end, struct fh_error *err);

/* The file that shows the step that is being taken. Lives until recorder_end(). */
struct live *recorder_live(const struct recorder *r);

/* Path of the .traj that recorder_end() writes. The string lives as long as the recorder. */
const char *recorder_traj(const struct recorder *r);

void recorder_close(struct recorder *r); /* `r` may be NULL */

/* The struct of fumehood/record.h begins with this. */
struct fh_recorder {
	struct recorder *events;
	uint64_t mark; /* mark of the process that opened it: base/fork_mark.h */
};

/* Returns -EPERM in a fork of the process that opened the recorder. */
int recorder_check_process(const struct fh_recorder *r, struct fh_error *err);

#endif
