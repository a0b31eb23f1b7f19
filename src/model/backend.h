/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_BACKEND_H
#define MODEL_BACKEND_H

#include "model/model.h"

/* A kind of model, such as "baseline". To add one, put a const struct at the end of its file, and
 * name it in model.c's table. */
struct model_backend {
	const char *name;   /* name of the kind: the part of a spec before the ":" */
	const char *suffix; /* end that the spec must have, like ".jsonl"; NULL: any */
	bool takes_argument;
	bool interactive;
	/* the model may give replies from which the agent's parser reads the action */
	bool speaks;
	/* Opens a model. `argument` is the part of the spec after the ":", or "". */
	int (*open)(const struct model_request *request, const char *argument, void **out_state,
			struct fh_error *err);
	int (*next)(void *state, const struct fh_step *step, struct model_turn *out,
			struct fh_error *err);
	/* Called with more lines of output of the running command. NULL: not called. */
	void (*watch)(void *state, const struct buf *lines);
	void (*close)(void *state);
};

/* Text with which specs of kind i begin, for completion: "baseline", "actions:". NULL after the
 * last kind. */
const char *model_kind(size_t i);

extern const struct model_backend model_baseline;
extern const struct model_backend model_solution;
extern const struct model_backend model_demo;
extern const struct model_backend model_actions;
extern const struct model_backend model_replay, model_responses;
extern const struct model_backend model_human, model_human_thought;

#endif
