/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_HISTORY_H
#define AGENT_HISTORY_H

#include "base/arena.h"
#include "base/error.h"
#include "model/chat.h"

#include <stdbool.h>
#include <stddef.h>

/* A conversation, and the part of it that a model is shown. */
struct history_item {
	struct chat_message message;
	const char *thought, *action; /* for CHAT_ASSISTANT; NULL: none */
	bool is_demo;
};

struct history {
	struct arena *arena; /* holds all strings and items */
	struct history_item *items;
	size_t n, size;
};

/* Copies the item; a copy of n uses in an arena. */
void history_add(struct history *h, const struct history_item *item);
struct chat_use *history_copy_uses(struct arena *a, const struct chat_use *uses, size_t n);

/* Names of roles in records: "system", "user", ... An unknown name gives CHAT_USER. */
const char *history_role_name(enum chat_role role);
enum chat_role history_role(const char *name);

/*
 * History processors shorten older messages. They have MLGym's names. They change contents, never
 * the number of messages. Demonstrations stay.
 */
struct history_args {
	int n; /* observations that LastNObservations keeps */
};

struct history_processor {
	const char *name;
	bool takes_n;
	/* `out` has room for all messages; new strings live in the arena. */
	void (*process)(const struct history *h, const struct history_args *args, struct arena *a,
			struct chat_message *out);
	int n; /* fixed args.n, for processors with a number in their name */
};

/* NULL for an unknown name. The error names the closest, or lists all. */
const struct history_processor *history_processor_find(const char *name, struct fh_error *err);

/* The messages for a model: h->n of them, in the arena. */
struct chat_message *history_shown(const struct history *h, const struct history_processor *p,
		const struct history_args *args, struct arena *a);

#endif
