/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_BACKEND_H
#define MODEL_BACKEND_H

#include "model/model.h"

/* A kind of model. To add one, put a const struct at the end of its file, and name it in model.c's
 * table. */
struct model_backend {
	const char *name;   /* stands in a spec, before the ":" */
	const char *suffix; /* the end of the spec; NULL: any */
	bool takes_argument;
	bool interactive;
	bool speaks; /* a turn may have only a response, which a parser must read */
	/* `argument` is the part after the ":", perhaps "". */
	int (*open)(const struct model_request *request, const char *argument, void **out_state,
			struct fh_error *err);
	int (*next)(void *state, const struct fh_step *step, struct model_turn *out,
			struct fh_error *err);
	/* Takes the output of the running command so far. NULL: not needed. */
	void (*watch)(void *state, const struct buf *output);
	void (*close)(void *state);
};

/* Beginnings of specs, for completion: "baseline", "actions:"; NULL after the last. */
const char *model_kind(size_t i);

extern const struct model_backend model_baseline;
extern const struct model_backend model_demo;
extern const struct model_backend model_actions;
extern const struct model_backend model_replay, model_responses;
extern const struct model_backend model_human, model_human_thought;

#endif
