/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_CHAT_SERVICE_H
#define MODEL_CHAT_SERVICE_H

#include "model/chat.h"
#include "model/prices.h"
#include "web/http.h"

#include <sys/queue.h>

/* Internals of a service for language models (chat_service), for chat_model.c and chat_call.c. */
TAILQ_HEAD(chat_queue, chat_call);

/* Times of the last reports of failures, for the models with one spec. They keep reports to one a
 * minute. */
struct chat_trouble {
	SLIST_ENTRY(chat_trouble) link;
	char *spec;
	/*
	 * Times of the last report of each kind. [true]: of failures where a server asked for a
	 * longer pause than it got. [false]: of other failures.
	 */
	int64_t told_ns[2];
};

SLIST_HEAD(chat_troubles, chat_trouble);

struct chat_service {
	struct http *http;
	/* `epoll_fd` becomes readable for HTTP traffic (`http`), and when a job that wrote a
	 * request has ended. Such jobs write to the eventfd `written_fd`. */
	int epoll_fd, written_fd;
	struct prices *prices;
	double cost_limit, cost;
	chat_retry_fn *on_retry;
	/* times of the last reports of failed requests, one item for each spec */
	struct chat_troubles troubles;
	struct chat_queue writing; /* calls whose request a job writes as JSON in a thread */
	struct chat_queue paused;  /* calls that wait for their next try, sorted by its time */
	/* Calls that have ended and that chat_service_advance() has not returned yet. */
	struct chat_queue done;
};

/* Checks a limit of a cost in US dollars: -EINVAL if it is below 0. */
int chat_check_limit(double limit, struct fh_error *err);

/* Decides whether a failed request is reported as the first one, by chat_retry.is_first. Returns
 * true at most once a minute for each spec and value of is_long. is_long: the server asked for a
 * longer pause than it gets. */
bool chat_trouble_is_news(struct chat_service *s, const char *spec, bool is_long);

#endif
