/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_CHAT_SERVICE_H
#define MODEL_CHAT_SERVICE_H

#include "model/chat.h"
#include "model/prices.h"
#include "web/http.h"

#include <sys/queue.h>

/* Internals of a chat_service, for chat_model.c and chat_call.c. */
TAILQ_HEAD(chat_queue, chat_call);

/* Times of the last failures of a spec's model that were reported. */
struct chat_trouble {
	SLIST_ENTRY(chat_trouble) link;
	char *spec;
	/* [true]: the server asked for a longer pause than it got; [false]: other failures */
	int64_t told_ns[2];
};

SLIST_HEAD(chat_troubles, chat_trouble);

struct chat_service {
	struct http *http;
	/* `epoll_fd` is readable when `http` or `written_fd` is. `written_fd` is an eventfd for the
	 * ends of jobs that write requests. */
	int epoll_fd, written_fd;
	struct prices *prices;
	double cost_limit, cost;
	chat_retry_fn *on_retry;
	struct chat_troubles troubles; /* last failures, one item for each spec */
	struct chat_queue writing;     /* calls whose request a job writes */
	struct chat_queue paused;      /* calls that wait for their next try, the earliest first */
	/* calls that ended and were not returned by chat_service_advance() yet */
	struct chat_queue done;
};

/* Checks a cost limit: -EINVAL if it is below 0. */
int chat_check_limit(double limit, struct fh_error *err);

/* Notes a failure of the spec's model. True if it had no failure of this kind within the last
 * minute. */
bool chat_trouble_is_news(struct chat_service *s, const char *spec, bool is_long);

#endif
