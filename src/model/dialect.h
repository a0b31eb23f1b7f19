/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_DIALECT_H
#define MODEL_DIALECT_H

#include "base/json.h"
#include "model/chat.h"
#include "model/reply.h"
#include "web/http.h"

/*
 * A protocol of language models, spoken by one provider or many. To add a protocol, add a file with
 * a const struct, and name it for its providers in vendor.c.
 */
struct dialect_request {
	const char *model;
	const struct chat_options *options;
	const struct chat_request *chat;
	bool own_address; /* the provider's own URL, not a compatible server's */
};

struct dialect {
	/* The request's URL, as a heap string. `base` does not end in "/". */
	char *(*url)(const char *base, const char *model, const char *version);
	/* `key` and `version` may be NULL. */
	void (*add_headers)(struct http_headers *h, const char *key, const char *version);
	/* The body, without `extra`. -EINVAL if a tool's parameters are no JSON. */
	int (*write)(const struct dialect_request *request, json_t **out, struct fh_error *err);
	/* Reads a complete answer, or adds an event of a stream to the reply. -EBADMSG, -EFBIG. */
	int (*read)(struct reply *r, const json_t *root, struct fh_error *err);
	int (*read_event)(struct reply *r, const json_t *data, struct fh_error *err);
};

extern const struct dialect dialect_openai, dialect_anthropic;

/* Adds `tools` to the body, if there are any: objects with name, description, and the parameters
 * under `key`. If `wrapped`, each becomes {"type": "function", "function": tool}. -EINVAL. */
int dialect_write_tools(json_t *body, const struct chat_request *chat, const char *key,
		bool wrapped, struct fh_error *err);

/* Adds the sequences that end a reply under `key`, if there are any. */
void dialect_write_stop(json_t *body, const struct chat_options *options, const char *key);

#endif
