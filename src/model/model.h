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
 * Who acts: something that looks at a step and says what to do next. A model belongs to one episode
 * and is used by one thread. It never runs out: what has no more actions says how the episode ends.
 *
 *   baseline       the task's own baseline command, then submit
 *   demo           the task's recorded demonstration, then submit
 *   actions:FILE   a file of JSON lines, an action (a string) in each, then submit
 *   replay:FILE    the actions of a recorded run, with what was said; its end leaves without a score
 *   replay:FILE.jsonl  what a language model has said, by task, then submit
 *   human          lines from a terminal; the end of input leaves without a score
 *   human_thought  the same, with what is thought before each action
 */
struct model;

struct model_request {
	const char *spec; /* "baseline", "actions:FILE" */
	const struct task_places *places;
	const char *task;                    /* "T" or "T:VARIANT" */
	const char *variant;                 /* NULL: of `task` */
	int in_fd, out_fd;                   /* for people */
	struct completion_source completion; /* of what they type; outlives the model */
	/* The word that ends a command which this line begins, NULL if it is complete; NULL: each line is a command. */
	const char *(*multiline_end)(void *user, const char *line);
	void *user;  /* of multiline_end() */
	int stop_fd; /* readable when waiting for people should end; -1: none */
};

/* -EINVAL for a spec that names no model (the message lists them), or a file that is wrong
 * ("FILE:LINE:COLUMN: ..."); nothing is run. */
int model_open(const struct model_request *request, struct model **out, struct fh_error *err);
void model_close(struct model *m); /* NULL is fine */

/* What folders are called after it: "baseline", "actions-games". Lives as long as the model. */
const char *model_label(const struct model *m);

/* True for one that talks to a person: its episodes can't run side by side. */
bool model_is_interactive(const struct model *m);

/* Whether its turns may be what a language model says, which an agent's configuration tells an action from. */
bool model_speaks(const char *spec);

/* Where the path begins in the spec of one that plays a file ("actions:FILE"); NULL: it is no such. */
const char *model_path(const char *spec);

/* One spec for each file, by whatever path it is named: the real one, if there is such a file. It is in the arena, or
 * `spec`. */
const char *model_resolve(struct arena *a, const char *spec);

/* What a model says. Lives until the next call. */
struct model_turn {
	const char *action;             /* NULL: the response is to be parsed */
	const char *response, *thought; /* NULL: nothing beside the action */
};

/* `step` is what reset or the last step gave. -EINTR when stop_fd ended it. */
int model_next(struct model *m, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err);

/* Shows a person what the last action's command has printed so far: the beginning is the same each time. */
void model_watch(struct model *m, const struct buf *output);

/* The specs of all models, for help and messages: "baseline, demo, actions:FILE, ...". */
const char *model_list(void);

#endif
