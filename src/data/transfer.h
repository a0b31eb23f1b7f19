/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_TRANSFER_H
#define DATA_TRANSFER_H

#include "base/error.h"
#include "base/sha256.h"
#include "data/lock.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Fetches one file over HTTP. A lost connection is tried again, and continues where it broke.
 * transfer_look() and transfer_get() block, but return -ECANCELED once `cancel_fd` is readable.
 * -ENETUNREACH: no server answered. `err` can't be NULL. Servers are untrusted: a file of another
 * size or hash is refused.
 */

struct transfer {
	struct http *http;
	const char *token; /* sent to the URL's server, not to those it redirects to; NULL: none */
	int64_t stall_ms;  /* give up a connection that brings no byte for this time */
	int cancel_fd;     /* becomes readable when a transfer has to stop; -1: none */
	void *user;
	/* called ten times a second or more during a request; size_bytes -1: not known; optional */
	void (*progress)(void *user, const char *name, int64_t done_bytes, int64_t size_bytes);
};

/* Information about a file from its server. "" or -1: the server did not tell. */
struct transfer_look {
	char sha256[SHA256_HEX_BYTES];    /* hash of the file, from `X-Linked-ETag` */
	char commit[LOCK_REVISION_BYTES]; /* commit of the repository, from `X-Repo-Commit` */
	/* ETag or date of the file; a later change of the file changes it */
	char validator[256];
	int64_t size_bytes;
};

/* Asks for information by HEAD. `hub`: the server is Hugging Face or one like it. */
int transfer_look(const struct transfer *t, const char *url, bool hub, struct transfer_look *out,
		struct fh_error *err);

/* Fetches the file to `target`, whose folder must exist. `expected` is its sha256; NULL: unknown.
 * -EBADMSG: the file has another hash. */
int transfer_get(const struct transfer *t, const char *url, const struct transfer_look *look,
		const char *expected, const char *target, char out_hex[SHA256_HEX_BYTES],
		int64_t *out_bytes, struct fh_error *err);

/* Reads a header Content-Range: "bytes 5-9/10" gives 5 and 10. *out_size is -1 for "*". False if
 * the header is malformed. */
bool transfer_read_range(const char *text, int64_t *out_begin, int64_t *out_size);

/* Reads an ETag without its quotes; false if it is weak ("W/..."), empty or too long for `out`. */
bool transfer_read_etag(const char *text, char *out, size_t n);

#endif
