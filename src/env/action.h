/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_ACTION_H
#define ENV_ACTION_H

#include "base/error.h"

#include <fumehood/env.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * Kinds of actions. Some actions are not commands for the shell, but words that end the episode.
 * Programs that drive agents send such a word when a cost limit is reached or the context is full.
 */
enum action_kind {
	ACTION_COMMAND,
	ACTION_SKIP,           /* `skip`: ends the episode as "skipped", without a score */
	ACTION_FORFEIT,        /* `exit_forfeit`: ends it without a score, as given up */
	ACTION_EXIT,           /* scores the submission and ends the episode */
	ACTION_MALFORMED_EDIT, /* an `edit N:M` without end_of_edit: nothing is run */
};

/*
 * Returns the kind of an action. Sets *out_word, a constant, if the action ends the episode. Blanks
 * around the word don't count.
 */
enum action_kind action_kind(const char *text, const char **out_word);

/*
 * Returns true if the action may train a model. If so, the task's training_timeout applies, unless
 * the action has a timeout of its own.
 */
bool action_trains(const char *text);

/* Checks an action of the caller. -EINVAL, -E2BIG: it is malformed. */
int action_check(const struct fh_action *action, struct fh_error *err);

/* Returns the action's timeout in milliseconds, or `otherwise` if it has none. */
int64_t action_timeout_ms(const struct fh_action *action, int64_t otherwise);

#endif
