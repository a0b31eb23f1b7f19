/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_HISTORY_H
#define AGENT_HISTORY_H

#include "base/arena.h"
#include "base/error.h"
#include "model/chat.h"

#include <stdbool.h>
#include <stddef.h>

/* A message of a conversation. A history processor may shorten what the model sees of it. */
struct history_item {
	struct chat_message message;
	/* thought and action of a CHAT_ASSISTANT message; NULL: none */
	const char *thought, *action;
	bool is_demo;
	bool is_hint; /* a person said it: no history processor shortens it */
};

struct history {
	struct arena *arena; /* holds all strings and items of the conversation */
	struct history_item *items;
	size_t n;
};

/* history_add() copies the item. history_copy_uses() copies n tool calls into the arena. */
void history_add(struct history *h, const struct history_item *item);
struct chat_use *history_copy_uses(struct arena *a, const struct chat_use *uses, size_t n);

/* Map a message's role to its name in records ("system", "user", ...), and back. An unknown name
 * gives CHAT_USER. */
const char *history_role_name(enum chat_role role);
enum chat_role history_role(const char *name);

struct history_args {
	int n; /* number of last observations that LastNObservations keeps, beside the first one */
};

/*
 * History processors shorten older messages before a model sees them. Their names are MLGym's. They
 * keep the number of messages, and all demonstrations.
 */
struct history_processor {
	const char *name;
	bool takes_n;
	/* Puts all messages of the conversation into `out`, shortened. New strings live in the
	 * arena. */
	void (*process)(const struct history *h, const struct history_args *args, struct arena *a,
			struct chat_message *out);
	int n; /* value for args.n, for a processor with a number in its name: Last5Observations */
};

/* Finds a processor by name. NULL for an unknown name: the error names the closest, or lists
 * all. */
const struct history_processor *history_processor_find(const char *name, struct fh_error *err);

/* Returns the h->n messages to send to a model, shortened by the history processor. They live in
 * the arena. */
struct chat_message *history_shown(const struct history *h, const struct history_processor *p,
		const struct history_args *args, struct arena *a);

#endif
