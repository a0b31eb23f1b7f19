/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_VERDICT_H
#define MODEL_VERDICT_H

#include "base/buf.h"
#include "base/json.h"

#include <stdint.h>

/* What follows from a try that failed. */
enum verdict {
	VERDICT_AGAIN,    /* the next try may go better */
	VERDICT_OVER,     /* it would not */
	VERDICT_TOO_LONG, /* the conversation does not fit into the context */
};

#define VERDICT_SENTENCE_MAX 400
#define PAUSE_ASKED_MOST_MS 120000 /* what a server may ask for; a pause has a tenth more at most */

/* An answer whose status is not 200. */
struct verdict_answer {
	int status;
	const char *body; /* n_body bytes */
	size_t n_body;
	const char *location; /* where it leads; NULL: nowhere */
};

/*
 * Of such an answer, and of an `error` within one whose status is 200. Appends what the server says, cut, and
 * in one line, but nothing of the secret (or NULL).
 */
enum verdict verdict_of_answer(
		const struct verdict_answer *answer, const char *secret, struct buf *out_sentence);
enum verdict verdict_of_error(
		int status, const json_t *error, const char *secret, struct buf *out_sentence);

/* How long to wait before try number `tries` + 1: what the server asks for (negative: nothing), at most
 * PAUSE_ASKED_MOST_MS, else up to a time that doubles. *random is the state of a generator. */
int64_t verdict_pause_ms(int tries, int64_t asked_ms, uint64_t *random);

#endif
