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
 * When it has no more actions, the episode ends.
 *
 *   baseline           the task's baseline command, then submit
 *   solution           the task's known good solution, then submit
 *   demo               the task's recorded demonstration, then submit
 *   actions:FILE       a file of JSON lines, an action (a string) in each, then submit
 *   replay:FILE        actions and responses of a recorded run; its end leaves without a score
 *   replay:FILE.jsonl  recorded replies of a language model, by task, then submit
 *   human              lines from a terminal; the end of input leaves without a score
 *   human_thought      the same, and asks for a thought before each action
 */
struct model;

struct model_request {
	const char *spec; /* kind of the model and its argument: "baseline", "actions:FILE" */
	const struct task_places *places;
	const char *task;    /* name of the task: "T" or "T:VARIANT" */
	const char *variant; /* variant of the task; NULL: the one in `task` */
	int in_fd, out_fd;   /* input and output of the person who plays */
	/* Choices for completing the commands that a person types. Outlives the model. */
	struct completion_source completion;
	/* Returns the word that ends a multi-line command, given its first line. NULL: no word
	 * ends it, and bash decides whether more lines follow. The function pointer may be NULL:
	 * then bash decides for all commands. */
	const char *(*multiline_end)(void *user, const char *line);
	void *user;  /* argument for multiline_end() */
	int stop_fd; /* when readable, waiting for the person's input ends; -1: none */
};

/* Opens a model, and runs nothing. -EINVAL for an unknown spec (the error lists all), or a wrong
 * file ("FILE:LINE:COLUMN: ..."). */
int model_open(const struct model_request *request, struct model **out, struct fh_error *err);
void model_close(struct model *m); /* NULL is fine */

/* Returns the model's name for use in folders' names: "baseline", "actions-games". Valid as long as
 * the model. */
const char *model_label(const struct model *m);

/* Returns true for a model that a person plays: only one of its episodes can run at a time. */
bool model_is_interactive(const struct model *m);

/*
 * Returns true if a model with this spec may give replies of a language model. An agent's parser
 * must then read them.
 */
bool model_speaks(const char *spec);

/* Returns the path of the file in a spec like "actions:FILE". NULL for other specs. */
const char *model_path(const char *spec);

/* Returns the model's spec with its path resolved by realpath(), in the arena. Returns `spec` if it
 * has no path to an existing file. */
const char *model_resolve(struct arena *a, const char *spec);

/* Next action that a model chose. Valid until the next call with the same model. */
struct model_turn {
	/* text of the action; NULL: the agent's parser reads the action from `response` */
	const char *action;
	/* reply and thought of the language model that chose the action; NULL: none */
	const char *response, *thought;
	double timeout_s; /* timeout of the action; 0: the task's */
};

/* Chooses the model's next action, after the result `step` of a reset or step. -EINTR: stop_fd
 * became readable, or a recorded run has no more actions. */
int model_next(struct model *m, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err);

/* Notes that the person who plays pressed Ctrl-C while their command was running. */
void model_interrupted(struct model *m);

/* Shows the person who plays more lines of output of their running command. The next observation
 * begins with the lines of all these calls, maybe without the last newline. */
void model_watch(struct model *m, const struct buf *lines);

#endif
