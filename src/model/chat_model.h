/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_CHAT_MODEL_H
#define MODEL_CHAT_MODEL_H

#include "base/arena.h"
#include "base/json.h"
#include "model/chat_service.h"
#include "model/vendor.h"

/* Internals of a chat_model, for chat_call.c. */
TAILQ_HEAD(chat_calls, chat_call);

struct chat_model {
	struct chat_service *service;
	struct arena arena;
	struct chat_options options; /* copied options, without key, extra and spent */
	const struct vendor *vendor;
	const char *name, *url;
	bool own_address; /* true if `url` is the provider's own */
	char *key;        /* API key; NULL: none */
	struct http_headers headers;
	json_t *extra;
	const struct price *price; /* price of the model; NULL: unknown, and counted as 0 */
	int64_t context;           /* size of the context in tokens; 0: unknown */
	int64_t counted_tokens;    /* provider's count of tokens in the last request; 0: no count */
	size_t counted_text;       /* bytes of text in the last request */
	uint64_t random;
	struct chat_stats stats;
	struct chat_calls calls;
};

/* True when the cost limit of the model or of all models is reached. The error says which. */
bool chat_is_at_limit(const struct chat_model *m, struct fh_error *err);

/* Frees a model that has no calls left. */
void chat_model_free(struct chat_model *m);

/* Returns the number of bytes of all text in a request, without the JSON around it. */
size_t chat_request_bytes(const struct chat_request *request);

/* Appends a request's body. -EINVAL: a tool's parameters are no JSON, or `out` is full. May run in
 * a thread while nothing else uses the model. */
int chat_request_write(const struct chat_model *m, const struct chat_request *request,
		struct buf *out, struct fh_error *err);

#endif
