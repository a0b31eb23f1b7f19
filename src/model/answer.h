/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_ANSWER_H
#define MODEL_ANSWER_H

#include "model/dialect.h"
#include "model/sse.h"

#include <stdbool.h>

/*
 * The body of an answer as it comes in, and the reply that it gives: read as it comes where it is a
 * stream of events, else when it is over.
 */
struct answer {
	const struct dialect *dialect;
	const char *secret; /* what no error may say, or NULL */
	bool is_stream;     /* to be set before the first piece */
	bool begun;
	struct buf whole; /* a body that is no stream */
	struct sse events;
	size_t n_streamed; /* bytes that came for them */
	struct reply reply;
};

/* Both must live as long. */
void answer_init(struct answer *a, const struct dialect *dialect, const char *secret);
void answer_release(struct answer *a);

/*
 * The next piece, and the end; after which `reply` is whole. What can be wrong:
 *   -EBADMSG   what came can't be read, or was cut, or says that another try may go better
 *   -E2BIG     it says that the conversation is too long
 *   -EFBIG     it is too much
 *   -EIO       it says anything else that is wrong
 */
int answer_feed(struct answer *a, const char *data, size_t n, struct fh_error *err);
int answer_end(struct answer *a, struct fh_error *err);

#endif
