/* SPDX-License-Identifier: Apache-2.0 */
#include "web/http_inside.h"

#include <limits.h>
#include <sys/socket.h>

/*
 * A name server is asked in a thread of libcurl's (getaddrinfo() does it, which waits as long as resolv.conf says)
 * that nothing can end. So who stops waiting for it, for its time is over or it was cancelled, leaves the call
 * behind: unheard, without a limit in time, until the thread has ended, when it is refused a socket. As long as that
 * is counted, threads are.
 */

/* Requests have like times, so that its place is at the end, or near it. */
int names_on_ask(void *resolver, void *reserved, void *user)
{
	struct http_call *call = user;
	struct call_list *list = &call->http->asking;
	struct http_call *before = TAILQ_LAST(list, call_list);

	if (call->is_asking || call->is_left)
		return 0;
	while (before && before->ask_end_ns > call->ask_end_ns)
		before = TAILQ_PREV(before, call_list, link);
	if (before)
		TAILQ_INSERT_AFTER(list, before, call, link);
	else
		TAILQ_INSERT_HEAD(list, call, link);
	call->is_asking = true;
	return 0;
}

void names_note_asked(struct http_call *call)
{
	if (call->is_asking && !call->is_left)
		TAILQ_REMOVE(&call->http->asking, call, link);
	call->is_asking = false;
}

/* libcurl's own sockets would stay open across exec. */
curl_socket_t names_open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_call *call = user;

	names_note_asked(call);
	if (call->is_left)
		return CURL_SOCKET_BAD;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Some proxies' sockets are open before a name is asked for. */
int names_on_connected(void *user, char *ip, char *own_ip, int port, int own_port)
{
	struct http_call *call = user;

	names_note_asked(call);
	return call->is_left ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

void names_leave(struct http_call *call)
{
	TAILQ_REMOVE(&call->http->asking, call, link);
	TAILQ_INSERT_TAIL(&call->http->left, call, link);
	call->is_left = true;
	libcurl.easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, 0L);
	libcurl.easy_setopt(call->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)INT_MAX);
	libcurl.easy_setopt(call->easy, CURLOPT_HTTPHEADER, NULL); /* which are the caller's */
}

bool http_is_asking(const struct http *h)
{
	return !TAILQ_EMPTY(&h->left);
}
