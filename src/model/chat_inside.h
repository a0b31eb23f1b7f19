/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_CHAT_INSIDE_H
#define MODEL_CHAT_INSIDE_H

#include "base/arena.h"
#include "model/answer.h"
#include "model/chat.h"
#include "model/prices.h"
#include "model/vendor.h"

#include <sys/queue.h>

/* What chat.c (services and models) and chat_call.c (calls) share, and nobody else knows. */

TAILQ_HEAD(chat_queue, chat_call);
TAILQ_HEAD(chat_calls, chat_call);

/* When it was last told of a try that failed. */
struct chat_trouble {
	SLIST_ENTRY(chat_trouble) link;
	char *spec;
	int64_t told_ns[2]; /* of a pause; of one for which a server wants more than it gets */
};

SLIST_HEAD(chat_troubles, chat_trouble);

struct chat_service {
	struct http *http;
	struct prices *prices;
	double cost_limit, cost;
	chat_retry_fn *on_retry;
	struct chat_troubles troubles; /* one for each spec that ever had any */
	struct chat_queue paused;      /* between two tries; that which goes on first comes first */
	struct chat_queue done;        /* over, and not given out yet */
};

struct chat_model {
	struct chat_service *service;
	struct arena arena;
	struct chat_options options; /* a copy, in the arena, of what is needed; without the key */
	const struct vendor *vendor;
	const char *name, *url;
	bool own_address;
	char *key; /* NULL: none */
	struct http_headers *headers;
	json_t *extra;
	const struct price *price; /* NULL: not known, and counted as nothing */
	int64_t context;           /* tokens; 0: not known */
	int64_t counted_tokens; /* what the provider counted for the last conversation; 0: nothing */
	size_t counted_text;    /* bytes that it had */
	uint64_t random;
	struct chat_stats stats;
	struct chat_calls calls;
};

enum call_state { CALL_ASKING, CALL_PAUSED, CALL_DONE, CALL_GIVEN };

struct chat_call {
	struct chat_model *model;
	void *user;
	TAILQ_ENTRY(chat_call) of_model;
	TAILQ_ENTRY(chat_call) queued; /* in paused or done */
	enum call_state state;
	char *body;
	size_t n_body;
	size_t n_text; /* bytes of what was said, without the JSON around it */
	int tries;
	int64_t resume_ns;
	/* this try */
	struct http_call *http;
	struct answer answer;
	struct fh_error broken; /* why its answer was refused while it came; code 0: it was not */
	/* the end */
	int code; /* 0: a reply */
	struct fh_error error;
	double cost;
	char *keep;
	struct chat_use *uses;
};

/* Goes on with those whose pause is over, and sets the service's timer for the next. */
void chat_call_resume_paused(struct chat_service *s);
void chat_call_set_timer(struct chat_service *s);

/* Whether nobody was told of this kind of the model's trouble for a minute; now it is told. */
bool chat_trouble_is_news(struct chat_service *s, const char *spec, bool is_long);

/* True when costs are at a limit, with a sentence that says which. */
bool chat_is_at_limit(const struct chat_model *m, struct fh_error *err);

#endif
