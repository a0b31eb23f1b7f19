/* SPDX-License-Identifier: Apache-2.0 */
#include "model/verdict.h"

#include "base/hide.h"
#include "base/random.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>

#define PAUSE_FIRST_MS 500
#define PAUSE_MOST_MS 60000
#define UNREADABLE_TRIES_MOST 3

/* --- errors ----------------------------------------------------------------------------------- */

/* Parts of providers' error codes and messages which mean that the conversation is longer than the
 * model's context. */
static const char *const verdict_too_long[] = {
	"context_length_exceeded",
	"exceed_context_size",
	"model_context_window_exceeded",
	"maximum context length",
	"model's context length",
	"context window",
	"context limit",
	"exceeds the context",
	"exceed the context",
	"prompt is too long",
	"input is too long",
	"input token count",
	"too many tokens",
	"reduce the length of the messages",
	"request_too_large",
};

/* HTTP statuses for types and codes in a provider's error messages. They replace the status sent:
 * for a used-up quota, providers send 429, but a retry would fail. */
static const struct {
	const char *name;
	int status;
} names[] = {
	{ "insufficient_quota", 402 },
	{ "billing_hard_limit_reached", 402 },
	{ "invalid_request_error", 400 },
	{ "authentication_error", 401 },
	{ "permission_error", 403 },
	{ "not_found_error", 404 },
};

static bool verdict_is_too_long(const char *text)
{
	for (size_t i = 0; text && i < ARRAY_SIZE(verdict_too_long); i++)
		if (strcasestr(text, verdict_too_long[i]))
			return true;
	return false;
}

static const char *verdict_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* Returns the HTTP status for the type or code of a provider's error; 0 if neither is known. */
static int verdict_status_of(const json_t *error)
{
	const json_t *code = json_object_get(error, "code");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(verdict_text(error, "type"), names[i].name) ||
				str_eq(verdict_text(error, "code"), names[i].name))
			return names[i].status;
	if (json_is_integer(code) && json_integer_value(code) >= 400 &&
			json_integer_value(code) < 600)
		return (int)json_integer_value(code);
	return 0;
}

static enum verdict verdict_of_status(int status)
{
	static const int again[] = { 408, 409, 425, 429 };

	for (size_t i = 0; i < ARRAY_SIZE(again); i++)
		if (status == again[i])
			return VERDICT_AGAIN;
	/* Retry after an error that came with a successful HTTP status, because it often does not
	 * come again. */
	return status >= 500 || (status >= 200 && status < 300) ? VERDICT_AGAIN : VERDICT_OVER;
}

void verdict_add_sentence(struct buf *out, const char *text, size_t n, const char *secret)
{
	auto_buf struct buf said = BUF_INIT(n + 1), line = BUF_INIT(4UL * VERDICT_SENTENCE_MAX);
	size_t kept;

	buf_add(&said, text, n);
	hide_in_complaint(&said, secret);
	kept = str_utf8_cut(buf_str(&said), said.len, VERDICT_SENTENCE_MAX);
	str_add_utf8(&line, buf_str(&said), kept);
	for (char *c = line.data; c && *c; c++)
		if (*c == '\n' || *c == '\r' || *c == '\t')
			*c = ' ';
	str_add_printable(out, buf_str(&line));
	if (kept < said.len)
		buf_add_str(out, " ...");
}

enum verdict verdict_of_error(
		int status, const json_t *error, const char *secret, struct buf *out_sentence)
{
	const char *message = json_is_string(error) ? json_string_value(error)
						    : verdict_text(error, "message");
	bool may_be_too_long = status == 400 || status == 413 || status == 422 || status == 200;
	int meant = verdict_status_of(error);

	if (!message)
		message = "an error without a message";
	verdict_add_sentence(out_sentence, message, strlen(message), secret);
	if (may_be_too_long &&
			(verdict_is_too_long(message) ||
					verdict_is_too_long(verdict_text(error, "code")) ||
					verdict_is_too_long(verdict_text(error, "type"))))
		return VERDICT_TOO_LONG;
	if (meant && (status == 200 || meant == 402))
		status = meant;
	return verdict_of_status(status);
}

enum verdict verdict_of_answer(
		const struct verdict_answer *a, const char *secret, struct buf *out_sentence)
{
	struct fh_error why = FH_ERROR_INIT;
	auto_json json_t *root = NULL;
	const json_t *error;
	int status = a->status;

	buf_printf(out_sentence, "HTTP %d: ", status);
	if (a->location) {
		buf_add_str(out_sentence, "the server redirects to ");
		verdict_add_sentence(out_sentence, a->location, strlen(a->location), secret);
		buf_add_str(out_sentence, ": if that is right, give it by --url");
		return VERDICT_OVER;
	}
	if (json_parse("body", a->body, a->n_body, &root, &why) < 0 || !json_is_object(root)) {
		if (a->n_body)
			verdict_add_sentence(out_sentence, a->body, a->n_body, secret);
		else
			buf_add_str(out_sentence, "an empty answer");
		return verdict_of_status(status);
	}
	/* Take as the error the answer's member "error", a text in "detail", or else the whole
	 * object. */
	error = json_object_get(root, "error");
	if (!error && json_is_string(json_object_get(root, "detail")))
		error = json_object_get(root, "detail");
	return verdict_of_error(status, error ? error : root, secret, out_sentence);
}

/* --- whether and when a failed request is retried --------------------------------------------- */

int verdict_retries_left(enum verdict verdict, int most, int unreadable)
{
	int left = UNREADABLE_TRIES_MOST - unreadable;

	switch (verdict) {
	case VERDICT_AGAIN:
		return most;
	case VERDICT_UNREADABLE:
		return left < most ? left : most;
	case VERDICT_OVER:
	case VERDICT_TOO_LONG:
		break;
	}
	return 0;
}

/* Wait for a random time before a retry, so that calls that failed together are not repeated
 * together. Don't wait for less than the server asked for, unless it asked for more than
 * PAUSE_ASKED_MOST_MS. */
int64_t verdict_pause_ms(int tries, int64_t asked_ms, uint64_t *random)
{
	int64_t most = PAUSE_FIRST_MS;
	/* a number from 0 to below 1 */
	double drawn = (double)(random_splitmix(random) >> 11) * 0x1p-53;

	if (asked_ms >= 0) {
		if (asked_ms > PAUSE_ASKED_MOST_MS)
			asked_ms = PAUSE_ASKED_MOST_MS;
		return asked_ms + (int64_t)(drawn * (double)asked_ms / 10);
	}
	for (int i = 1; i < tries && most < PAUSE_MOST_MS; i++)
		most *= 2;
	if (most > PAUSE_MOST_MS)
		most = PAUSE_MOST_MS;
	return (int64_t)(drawn * (double)most);
}
