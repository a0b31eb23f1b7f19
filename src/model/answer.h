/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_ANSWER_H
#define MODEL_ANSWER_H

#include "model/dialect.h"
#include "model/sse.h"

#include <stdbool.h>

/* The body of an HTTP answer, and the reply in it. A stream of events is read as it arrives, any
 * other body at its end. */
struct answer {
	const struct dialect *dialect;
	const char *secret; /* kept out of errors; or NULL */
	bool is_stream;     /* set this before the first piece */
	bool begun;
	struct buf whole; /* a body that is no stream */
	struct sse events;
	size_t n_streamed; /* bytes of the stream */
	struct reply reply;
};

/* `dialect` and `secret` must outlive the answer. */
void answer_init(struct answer *a, const struct dialect *dialect, const char *secret);
void answer_release(struct answer *a);

/*
 * Take the next piece, and the end. After answer_end(), `reply` is complete. Errors:
 *   -EBADMSG   the answer is cut, unreadable, or reports an error that a retry may cure
 *   -E2BIG     the server says that the conversation is too long
 *   -EFBIG     the answer is too large
 *   -EIO       the server reports any other error
 */
int answer_feed(struct answer *a, const char *data, size_t n, struct fh_error *err);
int answer_end(struct answer *a, struct fh_error *err);

#endif
