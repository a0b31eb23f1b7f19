/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_STEPS_H
#define VIEW_STEPS_H

#include "python/pyjson.h"
#include "trajectory/splitter.h"

#include <sys/types.h>

/*
 * A recorded run: an events.jsonl, or a .traj, also of MLGym. Only the ranges of its steps are
 * kept, and what the timeline shows of each. Texts are read again when they are asked for, so that
 * a large record takes little memory.
 */

enum record_mark {
	RECORD_VALIDATE = 1,
	RECORD_SUBMIT = 2,
	RECORD_ERROR = 4, /* the command failed, or a validate gave no score */
	RECORD_TIMEOUT = 8,
	RECORD_INTEGRITY = 16,
	RECORD_EDIT = 32,
	RECORD_FORMAT = 64,    /* a reply or the action had a wrong format */
	RECORD_BROKEN = 128,   /* the recorded step can't be read */
	RECORD_PERSON = 256,   /* a person took the step in place of the model */
	RECORD_HINT = 512,     /* a person gave the model a hint before the step */
	RECORD_LEFT = 1024,    /* the action is a word that ends the episode, such as exit_cost */
	RECORD_BLOCKED = 2048, /* a reply before the step had a command that is blocked */
	RECORD_FINAL = 4096,   /* the end was scored by other answers than the validates */
};

/* Cost and tokens of a model so far. */
struct record_spent {
	double cost;            /* NaN: no price is known */
	int64_t sent, received; /* tokens */
};

struct record_step {
	int64_t begin, end; /* place in the file */
	double duration_s;  /* NaN: unknown */
	double score;       /* NaN: none */
	int exit_code;      /* -1: unknown */
	unsigned marks;
	struct record_spent spent;
	char *head; /* first line of the action, cut */
	char *row;  /* JSON of the members above for the page; NULL: not written yet */
};

/* Bytes of a part in the file of the record. */
struct record_range {
	int64_t begin, end;
};

/* A reply that led to no step. */
struct record_fault {
	struct record_range range;
	size_t step;    /* number of steps before it */
	size_t message; /* number of messages before it */
};

struct record {
	char *path;
	bool events;     /* an events.jsonl */
	bool whole;      /* the run has ended */
	bool opened;     /* the first events were read */
	bool is_written; /* a process records the run now */
	unsigned coming; /* marks that the next step gets */
	/* grows when steps that were read before are no longer part of the run */
	unsigned epoch;
	struct record_step *steps;
	size_t n_steps;
	struct record_range *messages;
	size_t n_messages;
	struct record_fault *faults; /* in the order of the file */
	size_t n_faults;

	/* texts of the run; NULL: unknown */
	char *task, *variant, *model, *agent, *exit_status, *error, *metric, *version, *assignment;
	char *history;     /* name of the history processor; NULL: unknown */
	int64_t history_n; /* observations that it keeps */
	bool minimize;
	int64_t max_steps; /* 0: unknown */
	double baseline;   /* NaN: unknown */
	struct record_spent spent;

	/* how far the file was read */
	struct splitter splitter;
	dev_t device;
	ino_t inode;
	int64_t size, mtime_ns;
};

#endif
