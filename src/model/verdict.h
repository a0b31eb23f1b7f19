/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_VERDICT_H
#define MODEL_VERDICT_H

#include "base/buf.h"
#include "base/json.h"

#include <stdint.h>

/* The consequence of a failed try. */
enum verdict {
	VERDICT_AGAIN,    /* a retry may succeed */
	VERDICT_OVER,     /* a retry can't succeed */
	VERDICT_TOO_LONG, /* the conversation exceeds the context */
};

#define VERDICT_SENTENCE_MAX 400
#define PAUSE_ASKED_MOST_MS 120000 /* limit of a server's wish; jitter adds up to a tenth */

/* An answer whose status is not 200. */
struct verdict_answer {
	int status;
	const char *body; /* n_body bytes */
	size_t n_body;
	const char *location; /* URL of a redirect; NULL: none */
};

/* Judge such an answer, and an `error` in an answer with status 200. They append the server's
 * message, cut and on one line, without the secret (which may be NULL). */
enum verdict verdict_of_answer(
		const struct verdict_answer *answer, const char *secret, struct buf *out_sentence);
enum verdict verdict_of_error(
		int status, const json_t *error, const char *secret, struct buf *out_sentence);

/* Pause after `tries` failed tries. It follows asked_ms, the server's wish (negative: none), up to
 * PAUSE_ASKED_MOST_MS. Else it is random, up to a limit that doubles. *random is the generator's
 * state. */
int64_t verdict_pause_ms(int tries, int64_t asked_ms, uint64_t *random);

#endif
