/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_DIALECT_H
#define MODEL_DIALECT_H

#include "base/json.h"
#include "model/chat.h"
#include "model/reply.h"
#include "web/http.h"

/*
 * Protocol for requests to language models. Several providers may use the same. To add a protocol,
 * add a file with a const struct, and name this struct in vendor.c for each provider.
 */
struct dialect_request {
	const char *model;
	const struct chat_options *options;
	const struct chat_request *chat;
	bool own_address; /* the model's URL is the provider's own, not a compatible server's */
};

struct dialect {
	const char *path; /* end of the URL of each request: "/messages" */
	/* Makes the URL of a request, a heap string. `base` does not end in "/". */
	char *(*url)(const char *base, const char *model, const char *version);
	/* Adds the HTTP headers that the protocol requires. `key` and `version` may be NULL. */
	void (*add_headers)(struct http_headers *h, const char *key, const char *version);
	/* Makes the request's JSON body, without the user's `extra` members. -EINVAL if a tool's
	 * parameters are not JSON. */
	int (*write)(const struct dialect_request *request, json_t **out, struct fh_error *err);
	/* Adds a complete answer of a model, or one event of a stream, to the reply. -EPROTO:
	 * malformed; -EFBIG: too large. */
	int (*read)(struct reply *r, const json_t *root, struct fh_error *err);
	int (*read_event)(struct reply *r, const json_t *data, struct fh_error *err);
};

/* Adds the request's tools, if any, as body["tools"]. Each is an object with name, description and,
 * as `key`, its parameters. If `wrapped`, each becomes {"type": "function", "function": tool}.
 * -EINVAL: parameters are not JSON. */
int dialect_write_tools(json_t *body, const struct chat_request *chat, const char *key,
		bool wrapped, struct fh_error *err);

/* Adds the strings at which the model is to stop, if there are any, to the request as body[key]. */
void dialect_write_stop(json_t *body, const struct chat_options *options, const char *key);

#endif
