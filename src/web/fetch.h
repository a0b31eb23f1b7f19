/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_FETCH_H
#define WEB_FETCH_H

#include "base/buf.h"
#include "base/error.h"
#include "base/waits.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One document of the web, for somebody who is not trusted: places beyond an allow-list (hosts.h) are not asked,
 * wherever a redirect leads. A server that is busy is asked again, twice.
 *
 * A process has a few at a time. What was begun counts until it is truly over: where a name server does not answer,
 * somebody waits for it (http.h) after the fetch was freed, too.
 */
struct fetch;

#define FETCHES_MAX 16       /* of the process */
#define FETCHES_OF_ONE_MAX 4 /* of one who asks */

struct fetch_request {
	uint64_t who; /* asks */
	const char *hosts;
	const char *url;
	const char *key_header,
			*key; /* NULL: none. It goes along with the URL, and not to where that leads */
	size_t bytes_max;
	int64_t timeout_ms; /* of each try */
};

/* Whether the process may have another one now. */
bool fetch_has_room(void);

/* Nothing of the request needs to stay. -EINVAL, -EACCES: not allowed; -EBUSY; with a sentence for who asks. */
int fetch_begin(const struct fetch_request *request, struct fetch **out, struct fh_error *err);
void fetch_free(struct fetch *f); /* whatever it is doing; NULL is fine */

/* What an epoll must forget before fetch_free(). */
int fetch_fd(const struct fetch *f);

void fetch_waits(const struct fetch *f, struct waits *w);
bool fetch_advance(struct fetch *f); /* true: it is over */

/* How much it has brought so far, in bytes. */
size_t fetch_received(const struct fetch *f);

/* What it brought, which is the fetch's own. -EIO, -EACCES, -EFBIG, -ETIMEDOUT, with a sentence for who asks. */
int fetch_result(const struct fetch *f, const struct buf **out_body, struct fh_error *err);

#endif
