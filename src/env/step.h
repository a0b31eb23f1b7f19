/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_STEP_H
#define ENV_STEP_H

#include "env/command.h"

#include <fumehood/env.h>

/*
 * Steps. A step is counted first. Words that end the episode, and malformed edits, are told apart.
 * The shell runs any other action, until the episode's deadline at most. Then the first of these
 * applies:
 *
 * - The command asked to submit: the submission is scored, and the episode ends.
 *
 * - The deadline has passed, this was the last step, or the record is full: the same.
 *
 * - The command asked to validate: the submission is scored, if validations are left.
 */
int step_begin(struct fh_env *env, const struct fh_action *action, struct fh_error *err);
/* Returns the error that step_begin() would return, or 0. */
int step_check_action(
		const struct fh_env *env, const struct fh_action *action, struct fh_error *err);

/*
 * Begins a step without a command. `request` is a REQUEST_* bit, which the agent's command would
 * ask for.
 */
int step_begin_request(struct fh_env *env, int request, struct fh_error *err);

/* Begins a step that runs a program as the agent: env_run_agent_start(). */
int step_begin_agent(struct fh_env *env, const struct env_agent *agent, struct fh_error *err);
void step_advance(struct fh_env *env);

/* Cancels the running command or grading, of a reset too. */
void step_cancel(struct fh_env *env);

#endif
