/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_HTTP_H
#define WEB_HTTP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Concurrent HTTP requests that never block. A single descriptor covers all sockets and timers. The
 * cost of an event does not depend on the number of requests. Proxies come from the usual
 * variables, certificates from SSL_CERT_FILE. Redirects are not followed: the key would be sent
 * along, and the new place may not be allowed.
 *
 * libcurl wipes all memory that it frees, so that keys and conversations don't stay behind. It
 * can't if something else in the process used libcurl first.
 */
struct http;
struct http_call;

int http_open(struct http **out, struct fh_error *err);
void http_close(struct http *h); /* after its calls; NULL is fine */

/*
 * True while threads look names up for calls that were cancelled or timed out. The threads can't be
 * stopped. http_advance() frees their calls when they end; http_close() does not wait for them.
 */
bool http_is_asking(const struct http *h);

/* Readable when http_advance() has something to do. */
int http_fd(const struct http *h);

/* Makes http_fd() readable at that time of clock_now_ns() too. INT64_MAX switches this off. */
void http_wake_at(struct http *h, int64_t when_ns);

/* Does what can be done now; the calls' functions run within it. */
void http_advance(struct http *h);

/* -EINVAL for what is no http or https URL, or has a user or password in it. */
int http_check_url(const char *url, struct fh_error *err);

/* The parts of a URL, as a request for it would read them: compare these with an allow-list. Heap
 * strings. */
struct http_url {
	char *whole;
	char *scheme, *host; /* in lower case */
	char *port;          /* the default one if none is given */
};

int http_url_parse(const char *url, struct http_url *out, struct fh_error *err); /* -EINVAL */
void http_url_release(struct http_url *url);

/* Request headers, zeroed at first. Adding copies a line "NAME: PREFIXVALUE"; release wipes the
 * copies. */
struct http_headers {
	struct curl_slist *list;
};

void http_headers_add(
		struct http_headers *h, const char *name, const char *prefix, const char *value);
void http_headers_release(struct http_headers *h);

enum http_error {
	HTTP_ANSWERED, /* completely, with any status */
	HTTP_BROKEN,   /* no connection, or a lost one: a retry may succeed */
	HTTP_TIMEOUT,
	HTTP_REFUSED, /* by `data` */
	HTTP_USELESS, /* a retry can't succeed: an untrusted certificate, for example */
};

struct http_end {
	enum http_error error;
	const char *sentence;   /* the reason of the failure; "" when answered */
	int status;             /* HTTP status; 0 if no answer came */
	int64_t retry_after_ms; /* pause that the server asks for; negative: none */
	const char *location;   /* absolute URL of a redirect; NULL: none */
};

/* POST of a JSON body, or GET if `body` is NULL. All pointers stay valid until `end` or
 * http_cancel(). */
struct http_request {
	const char *url;
	const struct http_headers *headers;
	const char *body;
	size_t n_body;
	int64_t timeout_ms;
	/* Refuse private, loopback and link-local addresses: HTTP_USELESS. No check if a proxy is
	 * set, because the proxy looks the name up. */
	bool is_public;
	void *user;
	/* Takes a piece of the answer's body, decompressed: few bytes on the wire may become many.
	 * False ends the call with HTTP_REFUSED. */
	bool (*data)(void *user, const char *data, size_t n);
	/* The call has ended, and is freed when this returns. */
	void (*end)(void *user, const struct http_end *end);
};

int http_start(struct http *h, const struct http_request *request, struct http_call **out,
		struct fh_error *err);

/* Ends the call without its `end`. Not for use within `data` or `end`. */
void http_cancel(struct http_call *call);

/* For use within `data`: the answer's status, and whether its body is a stream of events. */
int http_status(const struct http_call *call);
bool http_is_event_stream(const struct http_call *call);

#endif
