/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_FOREIGN_H
#define RUN_FOREIGN_H

#include "env/env.h"
#include "model/chat.h"
#include "run/agent.h"
#include "trajectory/recorder.h"

/*
 * A foreign agent: a command that runs in the sandbox, and calls a language model by itself. The
 * calls come through a gateway (env/gateway.h). They are checked, counted, limited, sent to the
 * run's model with the run's key, recorded, and answered. Nothing here blocks.
 *
 * A call is untrusted. The agent never gets the run's key. A key of the agent only opens the
 * gateway.
 */
struct foreign;

/* name of the agent in records, where other runs have the name of an agent configuration */
#define FOREIGN_CONFIG "command"

struct foreign_options {
	const char *command;
	double timeout_s; /* seconds until the command times out */
	/* most calls, and most tokens that are sent and received together; 0: no limit */
	int max_calls, max_tokens;
};

/* Checks the options of a run. A language model has to answer the calls of a command. Beside a
 * command no agent's configuration can be given. */
int foreign_check(const struct foreign_options *options, const struct run_agent *agents, size_t n,
		struct fh_error *err);

struct foreign_request {
	const struct foreign_options *options;
	struct fh_env *env;
	struct chat_model *model;
	struct recorder *recorder;
	void *user; /* returned by chat_call_user() for the agent's calls */
	/* told, with `user`, about each `validate` and `submit` of the command */
	env_request_fn *on_request;
};

/* Begins the step that runs the command. `task` is the text of the task. *out is set even if the
 * step could not begin. */
int foreign_begin(const struct foreign_request *request, const char *task, struct foreign **out,
		struct fh_error *err);
/* Drops calls that are under way. NULL is fine. */
void foreign_close(struct foreign *f);

/* Takes a call that chat_service_advance() returned: records it, and answers the agent. Fails if
 * the call can't be recorded. */
int foreign_take(struct foreign *f, struct chat_call *chat, struct fh_error *err);

/* Drops calls that are under way. Call it when the command's step has ended, before a thread uses
 * the recorder. NULL is fine. */
void foreign_stop(struct foreign *f);

/* Returns the action that ends the episode after the command's step: `submit` if the command ended
 * well, or an exit_... word. */
const char *foreign_finish(const struct foreign *f, const struct fh_step *step);

/* Returns why the last call failed, if the run shall fail for it. Reasons are a server that does
 * not reply, a wrong key, and the limit of all costs. NULL: none of these. */
const struct fh_error *foreign_failure(const struct foreign *f);

#endif
