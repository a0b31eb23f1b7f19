/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_COMMAND_H
#define ENV_COMMAND_H

#include "inside/places.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A foreign agent: a command in the sandbox that plays as the agent. It calls a language model
 * through a gateway in the sandbox (env/gateway.h).
 */

/* File in a sandbox with the text of the task, for an agent that is a command. */
#define ENV_TASK_FILE GUEST_HOME "/task.md"

/* A call of a language model by a program in the sandbox. Untrusted. */
struct env_call {
	uint32_t id;      /* number of the call, not 0 */
	const char *line; /* "METHOD PATH" of the HTTP request; NULL: the call is cancelled */
	const char *key;  /* key that the client sent; "": none */
	const char *body; /* JSON of n_body bytes, maybe invalid; no NUL follows it */
	size_t n_body;
};

struct env_answer {
	uint32_t id; /* number of the call */
	int status;  /* HTTP status */
	const char *json;
	size_t n;
};

/* Callback for a call, within fh_gym_wait(). The call's strings live until it returns. It may
 * answer at once. */
typedef void env_call_fn(void *user, const struct env_call *call);

struct fh_step;

/*
 * Callback for a `validate` that was scored while the command runs, or for the command's `submit`,
 * within fh_gym_wait(). `request` is REQUEST_VALIDATE or REQUEST_SUBMIT. `told` has the text for
 * the agent as its observation, and the scores so far. It lives until the callback returns.
 */
typedef void env_request_fn(void *user, int request, const struct fh_step *told);

struct env_agent {
	const char *command;
	double timeout_s; /* seconds until the command times out */
	/* key for the gateway, letters and digits, and the model's name */
	const char *key, *model;
	const char *task; /* text of the task */
	env_call_fn *on_call;
	env_request_fn *on_request;
	void *user;
};

#endif
