/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_HISTORY_H
#define AGENT_HISTORY_H

#include "base/arena.h"
#include "base/error.h"
#include "model/chat.h"

#include <stdbool.h>
#include <stddef.h>

/* A conversation, and what of it a model is shown. */
struct history_item {
	struct chat_message message;
	const char *thought, *action; /* of an assistant's; NULL */
	bool is_demo;
};

struct history {
	struct arena *arena; /* of all that is in it */
	struct history_item *items;
	size_t n, size;
};

/* Copies the item. */
void history_add(struct history *h, const struct history_item *item);

/*
 * History processors: what is left of the older messages. They have the names that MLGym gives them. Only
 * contents change, never the number of messages; demonstrations stay.
 */
struct history_args {
	int n; /* LastNObservations: how many */
};

struct history_processor {
	const char *name;
	bool takes_n;
	/* out has room for all of them; what is new lives in the arena. */
	void (*process)(const struct history *h, const struct history_args *args, struct arena *a,
			struct chat_message *out);
	int n; /* of those that have it in their name */
};

/* NULL with a sentence that lists all, or names the closest. */
const struct history_processor *history_processor_find(const char *name, struct fh_error *err);

/* The messages for a model: h->n of them, in the arena. */
struct chat_message *history_shown(const struct history *h, const struct history_processor *p,
		const struct history_args *args, struct arena *a);

#endif
