/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_REQUEST_READER_H
#define ACI_REQUEST_READER_H

#include "base/buf.h"
#include "inside/gateway.h"

#include <stdbool.h>

/*
 * Reads one request of HTTP/1.0 or 1.1 from the bytes of a connection. Strict: lines end with
 * "\r\n", and a request with both a length and chunks is refused.
 */
struct request_reader {
	bool has_head;               /* the members down to `expects` are set */
	char line[GATEWAY_LINE_MAX]; /* "METHOD PATH", without the path's query */
	char key[GATEWAY_LINE_MAX];  /* the client's API key; "": none */
	size_t n_body;               /* Content-Length */
	bool has_length, is_chunked;
	bool closes;  /* the client wants the connection to be closed after the answer */
	bool expects; /* the client waits for "100 Continue" before it sends the body */
	struct buf body;
};

void request_reader_init(struct request_reader *r);
void request_reader_release(struct request_reader *r);

/*
 * Takes bytes from the front of `in`. 1: the request is complete. 0: more bytes are needed. Else
 * the HTTP status of a refusal, 400 or more.
 */
int request_reader_feed(struct request_reader *r, struct buf *in);

#endif
