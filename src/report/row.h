/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_ROW_H
#define REPORT_ROW_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A recorded run in numbers, as the index keeps it. All strings live in the arena of their list.
 * NULL, NAN and -1 mean: the record does not tell.
 */
struct run_row {
	const char *path; /* the record: events.jsonl, a .traj, a .json, or results.json */
	/* reason why the record can't be read; NULL: it can. Other members are then empty. */
	const char *problem;
	/* reason why a part of the record can't be read, with its place; NULL: all was read */
	const char *damage;
	const char *task;    /* name of the task; with its variant, "titanic:micro" */
	const char *version; /* hash of the task's files */
	const char *root;    /* fingerprint of the root file system */
	const char *judge;   /* format of the judge's keys, seed of the data */
	const char *metric;  /* metric that decides */
	int64_t maximize;    /* 1: more is better; 0: less is */
	int64_t guessed;     /* 1: `metric` is a guess, because no record or task names it */
	const char *model, *agent, *agent_hash;
	int64_t number;      /* number of the run's folder */
	int64_t policy_step; /* step of the training of the policy */
	const char *started; /* time of the first event */
	const char *exit_status;
	int64_t complete; /* 1: the episode ended by itself */
	int64_t steps;
	double baseline, best, last; /* scores by the metric */
	/* 1: the end was scored by other hidden answers than the validates. `best` and `last` are
	 * its score, and `points` are of validates. */
	int64_t is_apart;
	int64_t told;  /* scores of a damaged record that its observations tell */
	double reward; /* sum of the steps' rewards */
	double cost;   /* dollars; NAN too if no price of the model was known */
	int64_t tokens_sent, tokens_received, calls;
	/* seconds: in all, of the model, of commands, of gradings */
	double seconds, model_s, tool_s, graded_s;
	int64_t failed;        /* commands with an exit code other than 0 */
	int64_t timeouts;      /* commands that were ended by a timeout */
	int64_t format_errors; /* replies and actions that can't be parsed */
	int64_t blocked;       /* replies whose command the agent may not run */
	int64_t refused;       /* validates and submits that gave no score */
	int64_t integrity;     /* events of tampering */
	/* steps that a person took in a model's place, and hints that a person gave it */
	int64_t helped;
	/* a letter for each step: struct action_letter, or ? for a step that can't be read */
	const char *kinds;
	const char *points; /* lines "<step> <score> <cost>", one a scored step */
};

struct run_rows {
	struct run_row *items;
	size_t n;
};

#define RUN_ROW_INIT                                                                               \
	{                                                                                          \
		.maximize = 1, .number = -1, .policy_step = -1, .complete = -1, .steps = -1,       \
		.baseline = NAN, .best = NAN, .last = NAN, .reward = NAN, .cost = NAN,             \
		.tokens_sent = -1, .tokens_received = -1, .calls = -1, .seconds = NAN,             \
		.model_s = NAN, .tool_s = NAN, .graded_s = NAN, .failed = -1, .timeouts = -1,      \
		.format_errors = -1, .blocked = -1, .refused = -1, .integrity = -1, .helped = -1   \
	}

enum row_field_kind { ROW_TEXT, ROW_COUNT, ROW_NUMBER };

/* The columns of the index, ended by a NULL name. */
struct row_field {
	const char *name;
	enum row_field_kind kind;
	size_t offset; /* offset in struct run_row */
};
extern const struct row_field row_fields[];

/* Kinds of actions, by letter in `kinds`, as MLGym's paper has them. */
struct action_letter {
	char letter;
	const char *name;
};
extern const struct action_letter action_letters[]; /* ends with the letter NUL */

/* Returns the letter of an action's kind. The first word after any `cd ... &&` decides. */
char action_letter_of(const char *action);

/* Returns true if a person plays as the model. A person who takes over a run does not count. */
bool run_row_is_human(const struct run_row *row);

/* Returns true if the run has tokens, but no price of its model was known. */
bool run_row_is_unpriced(const struct run_row *row);

/* Adds an empty row. The pointer is valid until the next call. */
struct run_row *run_rows_add(struct arena *a, struct run_rows *rows);

#endif
