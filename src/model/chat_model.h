/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_CHAT_MODEL_H
#define MODEL_CHAT_MODEL_H

#include "base/arena.h"
#include "base/json.h"
#include "model/chat_service.h"
#include "model/vendor.h"

/* Inside of a chat_model, for chat_call.c. */
TAILQ_HEAD(chat_calls, chat_call);

struct chat_model {
	struct chat_service *service;
	struct arena arena;
	struct chat_options options; /* copied into the arena; without key, extra and spent */
	const struct vendor *vendor;
	const char *name, *url;
	bool own_address; /* the provider's own URL */
	char *key;        /* NULL: none */
	struct http_headers headers;
	json_t *extra;
	const struct price *price; /* NULL: unknown, and counted as 0 */
	int64_t context;           /* tokens; 0: unknown */
	int64_t counted_tokens;    /* the provider's count for the last conversation; 0: none */
	size_t counted_text;       /* bytes of that conversation */
	uint64_t random;
	struct chat_stats stats;
	struct chat_calls calls;
};

/* True when a cost limit is reached. The error says which. */
bool chat_is_at_limit(const struct chat_model *m, struct fh_error *err);

/* For a model without calls. */
void chat_model_free(struct chat_model *m);

#endif
