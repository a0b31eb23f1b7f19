/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_HTTP_REQUEST_H
#define ACI_HTTP_REQUEST_H

#include "base/buf.h"
#include "inside/gateway.h"

#include <stdbool.h>

/*
 * Reads one request of HTTP/1.0 or 1.1 from the bytes of a connection. Strict: lines end with
 * "\r\n", and a request with both a length and chunks is refused.
 */
struct http_request {
	bool has_head;               /* the members down to `expects` are set */
	char line[GATEWAY_LINE_MAX]; /* "METHOD PATH", without the path's query */
	char key[GATEWAY_LINE_MAX];  /* the client's API key; "": none */
	size_t n_body;               /* Content-Length */
	bool has_length, is_chunked;
	bool closes;  /* the client wants the connection to be closed after the answer */
	bool expects; /* the client waits for "100 Continue" before it sends the body */
	struct buf body;
};

void http_request_init(struct http_request *r);
void http_request_release(struct http_request *r);

/*
 * Takes bytes from the front of `in`. 1: the request is complete. 0: more bytes are needed. Else
 * the HTTP status of a refusal, 400 or more.
 */
int http_request_feed(struct http_request *r, struct buf *in);

#endif
