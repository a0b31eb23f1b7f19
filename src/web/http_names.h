/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_HTTP_NAMES_H
#define WEB_HTTP_NAMES_H

#include "web/libcurl.h"

#include <stdint.h>
#include <sys/queue.h>

/*
 * Names and addresses of HTTP calls. libcurl looks a name up with getaddrinfo() in a thread. The
 * thread can't be stopped, and runs for as long as resolv.conf says. A call that is cancelled or
 * times out before that is left behind. It has no timeout and no owner. When the thread ends, the
 * call is refused a socket and ends. So calls that were left count threads.
 */
TAILQ_HEAD(http_name_list, http_name);

struct http_names {
	struct http_name_list asking; /* lookups with an owner; the earliest deadline first */
	struct http_name_list left;
};

/* The name of one call. The caller sets the first five members. */
struct http_name {
	struct http_names *names;
	struct http_call *call;
	CURL *easy;
	int64_t deadline_ns; /* for the lookup */
	bool needs_public;   /* refuse private, loopback and link-local addresses */
	bool is_private;     /* such an address was refused */
	bool is_asking, is_left;
	TAILQ_ENTRY(http_name) link; /* in `left` if it was left, else in `asking` while it asks */
};

/* Sets the callbacks of n->easy, which follow the lookup. */
void http_name_follow(struct http_name *n);

void http_name_answered(struct http_name *n); /* the lookup has ended */
void http_name_forget(struct http_name *n);   /* takes it out of its list: the call is freed */

/* Leaves the call of a name that is_asking behind. */
void http_name_leave(struct http_name *n);

#endif
