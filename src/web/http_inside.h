/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_HTTP_INSIDE_H
#define WEB_HTTP_INSIDE_H

#include "web/http.h"
#include "web/libcurl.h"

#include <sys/queue.h>

/* What http.c and http_names.c share. */

TAILQ_HEAD(call_list, http_call);

struct http {
	CURLM *multi;
	int epoll_fd, timer_fd;
	int64_t curl_ns, wake_ns; /* when the timer is to fire, for libcurl and for the owner */
	int64_t armed_ns;
	struct http_call *unwatched; /* calls whose sockets epoll did not take */
	struct call_list asking;     /* for a name; whose time is over first comes first */
	struct call_list left;       /* that nobody hears of */
};

struct http_headers {
	struct curl_slist *list;
};

struct http_call {
	struct http *http;
	CURL *easy;
	struct http_request request;
	char sentence[CURL_ERROR_SIZE];
	bool is_unwatched;
	bool is_inward;         /* its name leads into a network of one's own */
	struct http_call *next; /* of those that are */
	bool is_asking, is_left;
	int64_t ask_end_ns;
	TAILQ_ENTRY(http_call) link; /* in `left` if it is left, else in `asking` if it asks */
};

/* --- http_names.c ----------------------------------------------------------------------------- */
/* libcurl's callbacks, whose user is the call: a name is to be asked for, a socket is wanted, a request can be sent. */
int names_on_ask(void *resolver, void *reserved, void *user);
curl_socket_t names_open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address);
int names_on_connected(void *user, char *ip, char *own_ip, int port, int own_port);

void names_note_asked(struct http_call *call); /* nobody asks for it any more */
void names_leave(struct http_call *call);      /* behind; it is asking */

#endif
