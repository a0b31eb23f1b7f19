/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_STEP_H
#define ENV_STEP_H

#include "env/state.h"

/*
 * A step, in this order: it is counted; words that end the episode do so; a malformed edit is told
 * apart; the shell runs anything else, for what is left of the episode's time at most. Then the
 * first of these that holds decides: the command asked to submit, or the time is over, or this was
 * the last step, or a record could not hold more text: the episode is scored and over. The command
 * asked to validate: the episode is scored. /
 */
int step_begin(struct fh_env *env, const struct fh_action *action, struct fh_error *err);

/* A step without a command, which asks as the agent's command would: REQUEST_*. */
int step_begin_request(struct fh_env *env, int request, struct fh_error *err);
void step_advance(struct fh_env *env);

/* Cancels the command or the grading that runs, of a reset too. */
void step_cancel(struct fh_env *env);

#endif
