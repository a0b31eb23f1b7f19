/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_HTTP_H
#define WEB_HTTP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Concurrent HTTP requests that never block. A caller polls a single descriptor for all sockets and
 * timers. An event takes the same time for any number of requests. Proxies come from the usual
 * variables, certificates from SSL_CERT_FILE. Redirects are not followed: an API key would be sent
 * along, and an allow-list may not have the new place.
 *
 * libcurl overwrites all memory that it frees, so that API keys and conversations don't stay there.
 * It can't if other code in the process used libcurl first.
 */
struct http;
struct http_call;

int http_open(struct http **out, struct fh_error *err);
void http_close(struct http *h); /* closes the client; end all calls of `h` first; NULL is fine */

/*
 * Returns true while threads still look up names for calls that were cancelled or timed out. Such a
 * thread can't be stopped. http_advance() frees the call when the thread ends. http_close() does
 * not wait for it.
 */
bool http_is_asking(const struct http *h);

/* Returns a descriptor that is readable when http_advance() has something to do. */
int http_fd(const struct http *h);

/* Makes the descriptor of http_fd() readable also when clock_now_ns() reaches when_ns. INT64_MAX:
 * never. */
void http_wake_at(struct http *h, int64_t when_ns);

/* Advances all calls without blocking, and runs their callbacks `data` and `end`. */
void http_advance(struct http *h);

/* Checks a URL. -EINVAL unless it is http or https, without a user and password. */
int http_check_url(const char *url, struct fh_error *err);

/* Parts of a URL, as libcurl reads it for a request. Compare them with an allow-list. Heap
 * strings. */
struct http_url {
	char *whole;
	char *scheme, *host; /* scheme and host, in lower case */
	char *port;          /* port in the URL, or else the default port of its scheme */
};

/* Splits a URL into its parts. -EINVAL: malformed. */
int http_url_parse(const char *url, struct http_url *out, struct fh_error *err);
void http_url_release(struct http_url *url);
#define auto_http_url __attribute__((cleanup(http_url_release)))

/* Headers of a request; begin with a zeroed struct. http_headers_add() adds a line "NAME:
 * PREFIXVALUE". http_headers_release() wipes the memory, because a header may hold a key. */
struct http_headers {
	struct curl_slist *list;
};

void http_headers_add(
		struct http_headers *h, const char *name, const char *prefix, const char *value);
void http_headers_release(struct http_headers *h);
#define auto_http_headers __attribute__((cleanup(http_headers_release)))

enum http_error {
	HTTP_ANSWERED, /* the server's answer is complete, with any HTTP status */
	HTTP_BROKEN,   /* the connection failed or was lost: a retry may succeed */
	HTTP_TIMEOUT,
	HTTP_REFUSED, /* the caller's function `data` returned false */
	HTTP_USELESS, /* a retry can't succeed: an untrusted certificate, for example */
};

struct http_end {
	enum http_error error;
	const char *sentence;   /* reason of the failure; "" for HTTP_ANSWERED */
	int status;             /* HTTP status of the answer; 0 if no answer came */
	int64_t retry_after_ms; /* milliseconds that the server asks to wait; negative: none */
	const char *location;   /* absolute URL of a redirect's target; NULL: no redirect */
};

/* A request: HEAD, POST of a JSON body, or GET if `body` is NULL. All pointers must stay valid
 * until `end` or http_cancel(). */
struct http_request {
	const char *url;
	const struct http_headers *headers;
	const char *body;
	size_t n_body;
	bool head;
	int64_t timeout_ms;
	/* milliseconds without a byte after which the call times out; 0: no such timeout */
	int64_t stall_ms;
	/* Refuse private, loopback and link-local addresses with HTTP_USELESS. A set proxy turns
	 * this off, because the proxy looks names up. */
	bool is_public;
	void *user;
	/* Callback for each piece of the answer's body, which libcurl has decompressed and which
	 * may be large. If it returns false, the call ends with HTTP_REFUSED. */
	bool (*data)(void *user, const char *data, size_t n);
	/* Callback when the call has ended, after which the call is freed. */
	void (*end)(void *user, const struct http_end *end);
};

int http_start(struct http *h, const struct http_request *request, struct http_call **out,
		struct fh_error *err);

/* Cancels the call, whose callback `end` is then not called. Don't use it within `data` or
 * `end`. */
void http_cancel(struct http_call *call);

/*
 * Functions to call within the callback `data`. They return the status of the server's answer, and
 * whether its body is a stream of events.
 */
int http_status(const struct http_call *call);
bool http_is_event_stream(const struct http_call *call);

/* Returns the value of a header of the server's answer; NULL: the answer lacks it. Use it within
 * `data` and `end`. The value is valid until the next call of http_header(). */
const char *http_header(const struct http_call *call, const char *name);

#endif
