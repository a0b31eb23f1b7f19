/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_REQUEST_READER_H
#define BASE_REQUEST_READER_H

#include "base/buf.h"

#include <stdbool.h>

#define REQUEST_HEAD_MAX 16384 /* most bytes of a request's line and headers */
#define REQUEST_HEADERS_MAX 100

/*
 * Reads one request of HTTP/1.0 or 1.1 from the bytes of a connection. Strict, as the reader of
 * heads is (base/request_head.h). It refuses a second header of a kind that may come once. A
 * request with both a length and chunks is refused, too, and one of HTTP/1.1 without Host. Trailers
 * are checked and dropped. An empty line before the request is skipped (RFC 9112, 2.2).
 */
struct request_reader {
	bool has_head; /* the members down to `expects` are set */
	const char *method;
	const char *path;  /* without the query */
	const char *query; /* the part behind "?"; "" if there is none */
	struct request_header {
		const char *name, *value;
	} headers[REQUEST_HEADERS_MAX];
	size_t n_headers;
	bool has_length, is_chunked;
	size_t n_body; /* Content-Length */
	bool closes;   /* the client wants the connection to be closed after the answer */
	bool expects;  /* the client waits for "100 Continue" before it sends the body */
	struct buf body;

	char *head;             /* the texts above lie in it */
	bool has_chunk;         /* a chunk, or the trailers */
	size_t n_chunk, n_left; /* bytes of the chunk, 0 for the last; bytes that have not come */
};

/* body_max: most bytes of a body. */
void request_reader_init(struct request_reader *r, size_t body_max);
void request_reader_release(struct request_reader *r);

/*
 * Takes bytes from the front of `in`. 1: the request is complete. 0: more bytes are needed, and
 * `in` has fewer than REQUEST_HEAD_MAX. Else the HTTP status of a refusal, 400 or more.
 */
int request_reader_feed(struct request_reader *r, struct buf *in);

/* Value of the first header of this name; NULL: the request lacks it. */
const char *request_reader_header(const struct request_reader *r, const char *name);

/* True if a header that is a list, such as Connection, has the token in any case. It may come more
 * than once. */
bool request_reader_lists(const struct request_reader *r, const char *name, const char *token);

#endif
