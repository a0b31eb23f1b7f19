/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_VERDICT_H
#define MODEL_VERDICT_H

#include "base/buf.h"
#include "base/json.h"

#include <stdint.h>

/* Kinds of failures of a request, by whether a retry may help. */
enum verdict {
	VERDICT_AGAIN,      /* a retry of the request may succeed */
	VERDICT_UNREADABLE, /* a retry seldom succeeds: the server speaks another protocol */
	VERDICT_OVER,       /* no retry of the request can succeed */
	VERDICT_TOO_LONG,   /* the conversation is longer than the model's context */
};

#define VERDICT_SENTENCE_MAX 400
/*
 * Most milliseconds that the client waits because a server asked. Up to a tenth of the pause may be
 * added at random.
 */
#define PAUSE_ASKED_MOST_MS 120000

/* An HTTP answer of a model's server whose status is not 200. */
struct verdict_answer {
	int status;
	const char *body; /* body of the answer, n_body bytes */
	size_t n_body;
	const char *location; /* URL to which the server redirects; NULL: no redirect */
};

/* Functions that decide whether a failed request may be sent again. verdict_of_answer() judges an
 * answer whose HTTP status is not 200, verdict_of_error() the member `error` of an answer. They
 * append the server's message, shortened and on one line. `secret`, which may be NULL, is removed
 * from the message. */
enum verdict verdict_of_answer(
		const struct verdict_answer *answer, const char *secret, struct buf *out_sentence);
enum verdict verdict_of_error(
		int status, const json_t *error, const char *secret, struct buf *out_sentence);

/* Appends a server's text, shortened and on one line. Removes the API key `secret` before it
 * shortens, so that no part of the key stays. */
void verdict_add_sentence(struct buf *out, const char *text, size_t n, const char *secret);

/* Returns how many retries of a request are left. `most` is the number that --retries still allows.
 * `unreadable` is the number of tries that ended in VERDICT_UNREADABLE. */
int verdict_retries_left(enum verdict verdict, int most, int unreadable);

/* Milliseconds to wait after `tries` failed tries. asked_ms is the pause that the server asked for;
 * negative: none. It is used up to PAUSE_ASKED_MOST_MS. Otherwise the pause is random, up to a
 * limit that doubles with each try. *random is the state of the random numbers. */
int64_t verdict_pause_ms(int tries, int64_t asked_ms, uint64_t *random);

#endif
