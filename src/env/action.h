/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_ACTION_H
#define ENV_ACTION_H

#include <stdbool.h>

/*
 * What an action's text means before a shell sees it. Most are commands; some words end the
 * episode, which agents' drivers say on their behalf (a cost limit, a full context).
 */
enum action_kind {
	ACTION_COMMAND,
	ACTION_SKIP,           /* ends the episode; nothing is scored */
	ACTION_FORFEIT,        /* the same, by the agent's own wish */
	ACTION_EXIT,           /* ends it, and what is there is scored */
	ACTION_MALFORMED_EDIT, /* `edit N:M` whose text never ends */
};

/* *out_word is the word of an action that ends the episode, a constant. Blanks around it don't
 * count. */
enum action_kind action_kind(const char *text, const char **out_word);

/* True for what may train a model, and therefore may take the task's training_timeout. */
bool action_trains(const char *text);

#endif
