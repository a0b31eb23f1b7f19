/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_BACKEND_H
#define MODEL_BACKEND_H

#include "model/model.h"

/* A kind of model, such as "baseline". To add one, write a file that ends with a const struct, and
 * name it in model.c's table. */
struct model_backend {
	const char *name; /* name of the kind of model: the part of a model's spec before the ":" */
	/* end of the arguments that choose this kind, like ".jsonl"; NULL: any */
	const char *suffix;
	bool takes_argument;
	bool interactive;
	/* the model may give replies of a language model, from which the agent's parser reads the
	 * action */
	bool speaks;
	/* Opens a model. `argument` is the part of the model's spec after the ":", or "". */
	int (*open)(const struct model_request *request, const char *argument, void **out_state,
			struct fh_error *err);
	int (*next)(void *state, const struct fh_step *step, struct model_turn *out,
			struct fh_error *err);
	/* Called when Ctrl-C interrupts the command that is running. NULL: not called. */
	void (*interrupted)(void *state);
	/* Called with more lines of output of the command that is running. NULL: not called. */
	void (*watch)(void *state, const struct buf *lines);
	void (*close)(void *state);
};

/* Start of the specs of kind i, to complete what a user types: "baseline", "actions:". NULL after
 * the last kind. */
const char *model_kind(size_t i);

extern const struct model_backend model_baseline;
extern const struct model_backend model_solution;
extern const struct model_backend model_demo;
extern const struct model_backend model_actions;
extern const struct model_backend model_replay, model_responses;
extern const struct model_backend model_human, model_human_thought;

#endif
