/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "base/buf.h"
#include "base/error.h"
#include "model/completion.h"
#include "task/task.h"

#include <fumehood/env.h>

#include <stdbool.h>

/*
 * A model decides on the next action after each step. It belongs to one episode and one thread.
 * When it has no more actions, it ends the episode with an action of its own.
 *
 *   baseline           the task's baseline command, then submit
 *   demo               the task's recorded demonstration, then submit
 *   actions:FILE       a file of JSON lines, an action (a string) in each, then submit
 *   replay:FILE        actions and responses of a recorded run; its end leaves without a score
 *   replay:FILE.jsonl  recorded replies of a language model, by task, then submit
 *   human              lines from a terminal; the end of input leaves without a score
 *   human_thought      the same, and asks for a thought before each action
 */
struct model;

struct model_request {
	const char *spec; /* "baseline", "actions:FILE" */
	const struct task_places *places;
	const char *task;                    /* "T" or "T:VARIANT" */
	const char *variant;                 /* NULL: as in `task` */
	int in_fd, out_fd;                   /* for models that talk to a person */
	struct completion_source completion; /* for typed commands; outlives the model */
	/* The word that ends a command which this line begins; NULL if the line is complete. The
	 * function may be NULL: then every line is complete. */
	const char *(*multiline_end)(void *user, const char *line);
	void *user;  /* for multiline_end() */
	int stop_fd; /* readable when waiting for a person should end; -1: none */
};

/* -EINVAL for an unknown spec (the error lists all), or a wrong file ("FILE:LINE:COLUMN: ...").
 * Runs nothing. */
int model_open(const struct model_request *request, struct model **out, struct fh_error *err);
void model_close(struct model *m); /* NULL is fine */

/* Name for folders: "baseline", "actions-games". Lives as long as the model. */
const char *model_label(const struct model *m);

/* True for a model that talks to a person: only one of its episodes can run at a time. */
bool model_is_interactive(const struct model *m);

/* True if its turns may be replies of a language model, which an agent's parser must read. */
bool model_speaks(const char *spec);

/* The path within a spec like "actions:FILE"; NULL for other specs. */
const char *model_path(const char *spec);

/* The spec with its path resolved by realpath(), in the arena. `spec` itself if there is no such
 * file. */
const char *model_resolve(struct arena *a, const char *spec);

/* Lives until the next call for the model. */
struct model_turn {
	const char *action;             /* NULL: parse the response */
	const char *response, *thought; /* NULL: none */
};

/* Decides what follows `step`, which reset or the last step gave. -EINTR if stop_fd ended it. */
int model_next(struct model *m, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err);

/* Shows a person the output of the running command so far. Later calls give the same output and
 * more. */
void model_watch(struct model *m, const struct buf *output);

/* Specs of all models, for help and messages: "baseline, demo, actions:FILE, ...". */
const char *model_list(void);

#endif
