/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_CHAT_MODEL_H
#define MODEL_CHAT_MODEL_H

#include "base/arena.h"
#include "base/json.h"
#include "model/chat_service.h"
#include "model/vendor.h"

/* Internals of a language model, for src/model/chat_*.c alone. */
TAILQ_HEAD(chat_calls, chat_call);

struct chat_model {
	struct chat_service *service;
	struct arena arena;
	/* copy of the options that the model was opened with; its members key, extra and spent are
	 * NULL */
	struct chat_options options;
	const struct vendor *vendor;
	const char *name, *url;
	bool own_address; /* true if `url` is the provider's own, not one that the user set */
	char *key;        /* API key of the model's provider; NULL: none */
	struct http_headers headers;
	json_t *extra;
	const struct price *price; /* price of the model; NULL: unknown, so that calls cost 0 */
	int64_t context;           /* size of the model's context in tokens; 0: unknown */
	/* tokens of the last request, as the provider counted them; 0: none counted yet */
	int64_t counted_tokens;
	size_t counted_text; /* bytes of text in the request that counted_tokens belongs to */
	uint64_t random;
	struct chat_stats stats;
	struct chat_calls calls;
};

/*
 * Returns true when the cost limit of the model or of all models together is reached. The error
 * says which.
 */
bool chat_is_at_limit(const struct chat_model *m, struct fh_error *err);

/* Frees a language model. The caller must free the model's calls first. */
void chat_model_free(struct chat_model *m);

/*
 * Returns how many bytes of text a request has: messages, arguments of tool calls, and tools'
 * parameters. Tokens are estimated from it.
 */
size_t chat_request_bytes(const struct chat_request *request);

/* Appends the JSON body of a request to `out`. Sets *out_sent to that of a raw request. -EINVAL:
 * the parameters of a tool or the raw request are not JSON, or `out` is full. A thread may call it
 * while nothing else uses the model. */
int chat_request_write(const struct chat_model *m, const struct chat_request *request,
		struct buf *out, json_t **out_sent, struct fh_error *err);

#endif
