/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_FETCH_H
#define WEB_FETCH_H

#include "base/buf.h"
#include "base/error.h"
#include "base/waits.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Download of one document of the web for an untrusted program. Only places of an allow-list
 * (hosts.h) are asked; redirects are checked too. If the server is busy, two retries follow.
 *
 * The number of fetches in a process is limited. A fetch that was freed still counts while a thread
 * looks up its name (http.h).
 */
struct fetch;

#define FETCHES_MAX 16       /* in a process */
#define FETCHES_OF_ONE_MAX 4 /* for one `who` */

struct fetch_request {
	uint64_t who;      /* for the limit: the episode */
	const char *hosts; /* the allow-list */
	const char *url;
	const char *key_header, *key; /* NULL: none. Not sent to where the URL redirects */
	size_t bytes_max;
	int64_t timeout_ms; /* for each try */
};

/* Whether the process may start another fetch now. */
bool fetch_has_room(void);

/* Copies what it needs of the request. -EINVAL or -EACCES if the URL is not allowed, -EBUSY at a
 * limit. The error's text may be shown to `who`, as may that of fetch_result(). */
int fetch_begin(const struct fetch_request *request, struct fetch **out, struct fh_error *err);
void fetch_free(struct fetch *f); /* cancels it; NULL is fine */

/* Remove this descriptor from an epoll before fetch_free(). */
int fetch_fd(const struct fetch *f);

#define FETCH_FDS 1
void fetch_waits(const struct fetch *f, struct waits *w);
bool fetch_advance(struct fetch *f); /* true: it has ended */

/* Bytes of the document that have arrived. */
size_t fetch_received(const struct fetch *f);

/* The document, which belongs to the fetch. -EIO, -EACCES, -EFBIG, -ETIMEDOUT. */
int fetch_result(const struct fetch *f, const struct buf **out_body, struct fh_error *err);

#endif
