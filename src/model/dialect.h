/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_DIALECT_H
#define MODEL_DIALECT_H

#include "base/json.h"
#include "model/chat.h"
#include "web/http.h"
#include "model/reply.h"

/*
 * How a provider is spoken to: one const struct for each protocol, however many providers speak it.
 * To add one is to add a file and, in vendor.c, who speaks it.
 */
struct dialect_request {
	const char *model;
	const struct chat_options *options;
	const struct chat_request *chat;
	bool own_address; /* the provider's, not that of something compatible */
};

struct dialect {
	/* The whole address, from a base URL that has no "/" at its end. Heap. */
	char *(*url)(const char *base, const char *model, const char *version);
	/* `key` and `version` may be NULL. */
	void (*add_headers)(struct http_headers *h, const char *key, const char *version);
	/* The body, without `extra`. -EINVAL for a tool's parameters that are no JSON. */
	int (*write)(const struct dialect_request *request, json_t **out, struct fh_error *err);
	/* A whole reply, or what one event of a stream adds to it. -EBADMSG, -EFBIG. */
	int (*read)(struct reply *r, const json_t *root, struct fh_error *err);
	int (*read_event)(struct reply *r, const json_t *data, struct fh_error *err);
};

extern const struct dialect dialect_openai, dialect_anthropic;

/* A tool's parameters, by default those of a tool that takes nothing. */
int dialect_parameters(const struct chat_tool *tool, json_t **out, struct fh_error *err);

#endif
