/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_FETCH_H
#define WEB_FETCH_H

#include "base/buf.h"
#include "base/error.h"
#include "base/waits.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A download of one document from the web for an untrusted program. URL and redirects must be in an
 * allow-list (hosts.h). If the server is busy, the download is tried twice more.
 *
 * The number of fetches in a process is limited. A freed fetch still counts while a thread looks up
 * a name for it (http.h).
 */
struct fetch;

#define FETCHES_MAX 16       /* most fetches that a process runs at a time */
#define FETCHES_OF_ONE_MAX 4 /* most fetches at a time that have the same `who` */

struct fetch_request {
	uint64_t who;      /* number of the episode that asks, for FETCHES_OF_ONE_MAX */
	const char *hosts; /* allow-list of servers, in the form that hosts.h describes */
	const char *url;
	/*
	 * Header of the request with an API key; NULL: none. It is not sent to the target of a
	 * redirect.
	 */
	const char *key_header, *key;
	size_t bytes_max;
	int64_t timeout_ms; /* milliseconds until each try times out */
};

/* Returns true if fewer than FETCHES_MAX fetches are running, so that another may begin. */
bool fetch_has_room(void);

/* Starts a fetch. The request may be freed afterwards. -EINVAL or -EACCES: the URL is not allowed.
 * -EBUSY: a limit is reached. The error's text may be shown to the untrusted program, and so may
 * that of fetch_result(). */
int fetch_begin(const struct fetch_request *request, struct fetch **out, struct fh_error *err);
void fetch_free(struct fetch *f); /* cancels the fetch if it is running; NULL is fine */

/* Returns a descriptor to poll for fetch_advance(). Remove it from an epoll before fetch_free(). */
int fetch_fd(const struct fetch *f);

#define FETCH_FDS 1
void fetch_waits(const struct fetch *f, struct waits *w);
bool fetch_advance(struct fetch *f); /* returns true when the fetch has ended */

/* Returns how many bytes of the document have arrived so far. */
size_t fetch_received(const struct fetch *f);

/* Gives the document of a fetch that has ended; it belongs to the fetch. -EIO, -EACCES, -EFBIG
 * or -ETIMEDOUT if the fetch failed. */
int fetch_result(const struct fetch *f, const struct buf **out_body, struct fh_error *err);

#endif
