/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_HTTP_H
#define WEB_HTTP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Many HTTP requests at once, none of which blocks. One descriptor stands for all of them and for
 * time; an event costs the same however many requests there are. Proxies are found by the usual
 * variables, certificates by SSL_CERT_FILE. Redirects are not followed: a key goes along,
 * and not every place may be asked.
 *
 * What libcurl frees is wiped first, where this is the first use of libcurl in the process: keys and
 * conversations don't stay behind in memory.
 */
struct http;
struct http_call;

int http_open(struct http **out, struct fh_error *err);
void http_close(struct http *h); /* after its calls; NULL is fine */

/*
 * Whether name servers are still asked for calls that are over, or were cancelled: each in a thread, and nobody can
 * end these. http_advance() goes on with them; http_close() lets them be.
 */
bool http_is_asking(const struct http *h);

/* Readable when http_advance() has something to do. */
int http_fd(const struct http *h);

/* Makes http_fd() readable at that time of clock_now_ns() too; INT64_MAX: no longer. */
void http_wake_at(struct http *h, int64_t when_ns);

/* Does what can be done now; the calls' functions run within it. */
void http_advance(struct http *h);

/* -EINVAL for what is no http or https URL, or has a user or password in it. */
int http_check_url(const char *url, struct fh_error *err);

/* A URL as a request for it would read it: what a list of hosts is compared with. */
struct http_url {
	char *whole;
	char *scheme, *host; /* in lower case */
	char *port;          /* the usual one where none is given */
};

int http_url_parse(const char *url, struct http_url *out, struct fh_error *err); /* -EINVAL */
void http_url_release(struct http_url *url);

/* Lines "NAME: PREFIXVALUE" that go along with requests. Copies; free wipes them. */
struct http_headers;

struct http_headers *http_headers_new(void);
void http_headers_add(
		struct http_headers *h, const char *name, const char *prefix, const char *value);
void http_headers_free(struct http_headers *h); /* NULL is fine */

enum http_error {
	HTTP_ANSWERED, /* to the end, with whatever status */
	HTTP_BROKEN,   /* no connection, or one that broke; another try may go better */
	HTTP_TIMEOUT,
	HTTP_REFUSED, /* by `data` */
	HTTP_USELESS, /* a certificate that nobody trusts, say: another try would go no better */
};

struct http_end {
	enum http_error error;
	const char *sentence;   /* what went wrong; "" when answered */
	int status;             /* of the answer; 0: none came */
	int64_t retry_after_ms; /* what the answer asks for; negative: nothing */
	const char *location;   /* where it leads, as a whole URL; NULL: nowhere */
};

/* A POST of JSON, or a GET where `body` is NULL. All that it points at lives until `end`, or until http_cancel(). */
struct http_request {
	const char *url;
	const struct http_headers *headers;
	const char *body;
	size_t n_body;
	int64_t timeout_ms;
	/* A name that leads into a network of one's own (loopback, private, link-local) is not followed: HTTP_USELESS.
	 * Where the variables name a proxy, it is the proxy that asks for names. */
	bool is_public;
	void *user;
	/* Some of the answer's body, which nobody keeps; decoded, so that a little on the wire may be much. False ends the call: HTTP_REFUSED. */
	bool (*data)(void *user, const char *data, size_t n);
	/* The call is over, and is freed when this returns. */
	void (*end)(void *user, const struct http_end *end);
};

int http_start(struct http *h, const struct http_request *request, struct http_call **out,
		struct fh_error *err);

/* Ends it without its `end`. Not for use within `data` or `end`. */
void http_cancel(struct http_call *call);

/* Of the answer, within `data`: its status, and whether its body is a stream of events. */
int http_status(const struct http_call *call);
bool http_is_event_stream(const struct http_call *call);

#endif
