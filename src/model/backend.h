/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_BACKEND_H
#define MODEL_BACKEND_H

#include "model/model.h"

/* A kind of model: one const struct at the end of its file, and a line in model.c's table. */
struct model_backend {
	const char *name;   /* what stands in a spec, before the ":" */
	const char *suffix; /* and how the spec ends; NULL: in any way */
	bool takes_argument;
	bool interactive;
	bool speaks; /* a turn may have no action, but what a language model said */
	/* `argument` is what follows the ":" ("" if there is nothing). *out_state is its own. */
	int (*open)(const struct model_request *request, const char *argument, void **out_state,
			struct fh_error *err);
	int (*next)(void *state, const struct fh_step *step, struct model_turn *out,
			struct fh_error *err);
	/* What the last action's command has printed so far. NULL: it is not of interest. */
	void (*watch)(void *state, const struct buf *output);
	void (*close)(void *state);
};

/* How specs begin: "baseline", "actions:"; NULL at the end (model.c). */
const char *model_kind(size_t i);

extern const struct model_backend model_baseline;
extern const struct model_backend model_demo;
extern const struct model_backend model_actions;
extern const struct model_backend model_replay, model_responses;
extern const struct model_backend model_human, model_human_thought;

#endif
