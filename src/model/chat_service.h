/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_CHAT_SERVICE_H
#define MODEL_CHAT_SERVICE_H

#include "model/chat.h"
#include "model/prices.h"
#include "web/http.h"

#include <sys/queue.h>

/* Inside of a chat_service, for chat_model.c and chat_call.c. */
TAILQ_HEAD(chat_queue, chat_call);

/* Times of the last reported failures of a spec. */
struct chat_trouble {
	SLIST_ENTRY(chat_trouble) link;
	char *spec;
	int64_t told_ns[2]; /* [true]: the server asked for a longer pause than it got */
};

SLIST_HEAD(chat_troubles, chat_trouble);

struct chat_service {
	struct http *http;
	struct prices *prices;
	double cost_limit, cost;
	chat_retry_fn *on_retry;
	struct chat_troubles troubles; /* at most one for each spec */
	struct chat_queue paused;      /* between two tries; the earliest to resume first */
	struct chat_queue done;        /* ended, and not given to the caller yet */
};

/* -EINVAL for a cost limit below 0. */
int chat_check_limit(double limit, struct fh_error *err);

/* Whether no failure of this kind was reported for a minute. Counts as a report. */
bool chat_trouble_is_news(struct chat_service *s, const char *spec, bool is_long);

#endif
