/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_ANSWER_H
#define MODEL_ANSWER_H

#include "model/dialect.h"
#include "model/sse.h"

#include <stdbool.h>

/* Reader of an HTTP answer's body, which gives the language model's reply. A stream of events is
 * read as its pieces arrive, and any other body at its end. */
struct answer {
	const struct dialect *dialect;
	/* API key to remove from error messages of a language model; NULL: none */
	const char *secret;
	/* the answer's body is a stream of events; set it before answer_feed() */
	bool is_stream;
	bool begun;
	struct buf whole; /* the whole body of the answer, unless it is a stream */
	struct sse events;
	size_t n_streamed; /* bytes of the answer's stream that arrived so far */
	struct reply reply;
	/* the caller wants the answer itself, as JSON; then a stream of events is refused */
	bool keeps_text;
	struct buf text;
};

/* Prepares to read an answer. `dialect` and `secret` must outlive `a`. */
void answer_init(struct answer *a, const struct dialect *dialect, const char *secret);
void answer_release(struct answer *a);

/*
 * answer_feed() takes the next piece of the body. Call answer_end() after the last piece. Then
 * `reply` is complete. Errors:
 *   -EBADMSG   the answer is cut, empty, or reports an error that a retry may cure
 *   -EPROTO    the answer can't be read; the error quotes it
 *   -E2BIG     the server says that the conversation is too long
 *   -EFBIG     the answer is too large, or has too many tool calls
 *   -EIO       the server reports another error, or sent something else than a reply
 */
int answer_feed(struct answer *a, const char *data, size_t n, struct fh_error *err);
int answer_end(struct answer *a, struct fh_error *err);

/* Removes the API key `secret` from the reply's texts, and from `text`. A server may repeat it, and
 * it would get into records or commands. `keep` is not changed: it is signed, and only the provider
 * gets it. */
void answer_hide_key(struct answer *a);

#endif
