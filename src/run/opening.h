/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_OPENING_H
#define RUN_OPENING_H

#include "agent/config.h"
#include "model/model.h"

#include <fumehood/env.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * Opens each environment in a thread of its own, while a loop drives the other episodes. Opening
 * may take minutes: it may make a data set, play a baseline, or wait for another process.
 *
 * A thread can't be stopped. To exit while one runs, end the process with _exit() and release
 * nothing. PID 1 of each sandbox, or else the nursery, then ends the sandbox.
 */
struct openings {
	/* becomes readable when a thread has ended that opens an environment or writes a record */
	int fd;
	/* number of threads that open environments, started and not yet taken by opening_take() */
	size_t n;
};

/*
 * Most environments that are opened at the same time: with more, threads would only wait for each
 * other.
 */
#define OPENINGS_MAX 64

int openings_open(struct openings *o, struct fh_error *err);
void openings_close(struct openings *o);

/*
 * Returns true if a thread that opens an environment, or writes a record, has ended since the last
 * call.
 */
bool openings_came(struct openings *o);

struct opening_request {
	struct fh_gym *gym;
	const struct fh_env_options *env;
	/* request of the model that opening_start() copies, to open it too; NULL: none */
	const struct model_request *model;
	const struct agent_config *agent;
	const char *aliases;
	/* start the linter of the agent's editor before the first edit, because it takes long */
	bool edits_at_once;
};

struct opening;

/* Starts a thread that opens an environment. Pointers in the request stay valid until
 * opening_take(). */
int opening_start(struct openings *all, const struct opening_request *request, struct opening **out,
		struct fh_error *err);
bool opening_is_over(const struct opening *opening);

/* Takes the environment, or the error, from a thread that has opened it and ended. Frees the
 * opening. Sets *out_model if the request had a model. */
int opening_take(struct opening *opening, struct fh_env **out_env, struct model **out_model,
		struct fh_error *err);

#endif
