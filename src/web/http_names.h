/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_HTTP_NAMES_H
#define WEB_HTTP_NAMES_H

#include "web/libcurl.h"

#include <stdint.h>
#include <sys/queue.h>

/*
 * Lookups of the names in URLs. libcurl calls getaddrinfo() in a thread, which can't be stopped and
 * may run as long as resolv.conf allows. If the call is cancelled or times out meanwhile, it is
 * kept in the list `left`, without timeout and owner. When the thread ends, the call gets no socket
 * and ends. So the length of this list is the number of such threads.
 */
TAILQ_HEAD(http_name_list, http_name);

struct http_names {
	struct http_name_list asking; /* name lookups of unfinished calls, sorted by deadline */
	struct http_name_list left;
};

/* The name lookup of one call. The caller sets the first five members. */
struct http_name {
	struct http_names *names;
	struct http_call *call;
	CURL *easy;
	int64_t deadline_ns; /* clock_now_ns() at which the lookup times out */
	bool needs_public;   /* true: refuse private, loopback and link-local addresses */
	bool is_private;     /* true: the name had a private address, which was refused */
	bool is_asking, is_left;
	/* link in the list `left` if is_left, or in `asking` if is_asking */
	TAILQ_ENTRY(http_name) link;
};

/* Sets callbacks of the libcurl handle n->easy that tell when the name lookup begins and ends. */
void http_name_follow(struct http_name *n);

void http_name_answered(struct http_name *n); /* notes that the name lookup has ended */
/* Takes a name lookup out of its list, before its call is freed. */
void http_name_forget(struct http_name *n);

/* Moves a running name lookup from `asking` to `left`: its call was cancelled or timed out. */
void http_name_leave(struct http_name *n);

#endif
