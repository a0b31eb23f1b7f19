/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_ACTION_H
#define ENV_ACTION_H

#include <stdbool.h>

/*
 * Tells words that end the episode from commands, before a shell sees the action. Agents' drivers
 * send such words on their behalf: for a cost limit, or a full context.
 */
enum action_kind {
	ACTION_COMMAND,
	ACTION_SKIP,           /* ends the episode without a score */
	ACTION_FORFEIT,        /* the same, because the agent gave up */
	ACTION_EXIT,           /* scores, and ends the episode */
	ACTION_MALFORMED_EDIT, /* an `edit N:M` without its end word */
};

/* Sets *out_word, a constant, if the action ends the episode. Blanks around it don't count. */
enum action_kind action_kind(const char *text, const char **out_word);

/* True if the action may train a model; then the task's training_timeout is its timeout. */
bool action_trains(const char *text);

#endif
