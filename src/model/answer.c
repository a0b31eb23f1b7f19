/* SPDX-License-Identifier: Apache-2.0 */
#include "model/answer.h"

#include "base/hide.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/dialects.h"
#include "model/lenient.h"
#include "model/verdict.h"

#include <errno.h>
#include <string.h>

/* Most bytes of a language model's answer: the largest reply, and the JSON around it. */
#define ANSWER_BYTES_MAX (REPLY_BYTES_MAX + 1024 * 1024)
/* Most bytes of a streamed answer of a language model: a million events of one token each. The cap
 * also limits to how much a compressed stream may grow. */
#define STREAM_BYTES_MAX (256L * 1024 * 1024)
#define SENTENCE_MAX 900

void answer_init(struct answer *a, const struct dialect *dialect, const char *secret)
{
	*a = (struct answer){ .dialect = dialect,
		.secret = secret,
		.whole = BUF_INIT(ANSWER_BYTES_MAX),
		.text = BUF_INIT(2 * ANSWER_BYTES_MAX) };
	sse_init(&a->events);
	reply_init(&a->reply);
}

void answer_release(struct answer *a)
{
	buf_release(&a->whole);
	sse_release(&a->events);
	reply_release(&a->reply);
	buf_release(&a->text);
}

static int answer_too_large(struct fh_error *err)
{
	return error_say(err, EFBIG, "a reply of more than %ld MiB", REPLY_BYTES_MAX >> 20);
}

/*
 * Reads the member "error" of an answer with HTTP status 200: some servers send it in place of a
 * reply.
 */
static int answer_read_error(const struct answer *a, const json_t *root, struct fh_error *err)
{
	static const int codes[] = {
		[VERDICT_AGAIN] = EBADMSG, [VERDICT_OVER] = EIO, [VERDICT_TOO_LONG] = E2BIG
	};
	const json_t *error = json_object_get(root, "error");
	auto_buf struct buf why = BUF_INIT(SENTENCE_MAX);
	enum verdict verdict;

	if (!error || json_is_null(error))
		return 0;
	verdict = verdict_of_error(200, error, a->secret, &why);
	return error_say(err, codes[verdict], "%s", buf_str(&why));
}

/*
 * Refuses an answer of a model's server in the form of another provider's protocol. A retry would
 * get the same answer.
 */
static int answer_check_protocol(const struct answer *a, const json_t *root, struct fh_error *err)
{
	const char *type = json_string_value(json_object_get(root, "type"));
	bool is_openai = !type && json_is_array(json_object_get(root, "choices"));
	bool is_anthropic = type && str_starts(type, "message");

	if (a->dialect == &dialect_openai && is_anthropic)
		return error_say(err, EIO,
				"the server speaks Anthropic's protocol: name the model anthropic:NAME");
	if (a->dialect == &dialect_anthropic && is_openai)
		return error_say(err, EIO,
				"the server speaks OpenAI's protocol: name the model openai:NAME");
	return 0;
}

/* Fails with an error that explains why the server's answer is not JSON. A web page means that the
 * URL is wrong. */
static int answer_complain_no_json(const struct answer *a, struct fh_error *err)
{
	const char *text = buf_str(&a->whole);

	text += strspn(text, " \t\r\n");
	if (*text == '<')
		return error_say(err, EIO,
				"the server gave a web page, no reply of a model: --url should be the "
				"base of its API, which often ends with /v1");
	if (!*text)
		return error_say(err, EBADMSG, "the server sent an empty reply");
	return reply_broken(err, "it is not JSON");
}

/*
 * If `r` is -EPROTO (the text can't be read), adds the start of the text to the error. Returns r.
 */
static int answer_quote(
		const struct answer *a, const char *text, size_t n, int r, struct fh_error *err)
{
	auto_buf struct buf said = BUF_INIT(SENTENCE_MAX);
	auto_free char *why = NULL;

	if (r != -EPROTO || !err)
		return r;
	why = xstrdup(err->message);
	verdict_add_sentence(&said, text, n, a->secret);
	return error_say(err, EPROTO, "%s: %s", why, buf_str(&said));
}

static int answer_parse_event(struct answer *a, const char *text, size_t n, struct fh_error *err)
{
	struct fh_error why = FH_ERROR_INIT;
	auto_json json_t *data = NULL;
	int r;

	if (n == 6 && memcmp(text, "[DONE]", 6) == 0) {
		a->reply.ended = true;
		return 0;
	}
	if (lenient_json("event", text, n, &data, &why) < 0)
		return reply_broken(err, "an event of its stream is not JSON");
	r = answer_read_error(a, data, err);
	if (r < 0)
		return r;
	r = answer_check_protocol(a, data, err);
	return r < 0 ? r : a->dialect->read_event(&a->reply, data, err);
}

static int answer_read_events(struct answer *a, struct fh_error *err)
{
	const char *text;
	size_t n;

	while (!a->reply.ended && sse_next(&a->events, &text, &n)) {
		int r;

		if (sse_is_too_long(&a->events))
			return answer_too_large(err);
		r = answer_quote(a, text, n, answer_parse_event(a, text, n, err), err);
		if (r < 0)
			return r;
	}
	return sse_is_too_long(&a->events) ? answer_too_large(err) : 0;
}

int answer_feed(struct answer *a, const char *data, size_t n, struct fh_error *err)
{
	a->begun = true;
	if (a->is_stream && a->keeps_text)
		return error_say(err, EIO, "the server sent a stream, which was not asked for");
	if (a->is_stream) {
		a->n_streamed += n;
		if (a->n_streamed > STREAM_BYTES_MAX)
			return error_say(err, EFBIG, "a stream of more than %ld MiB",
					STREAM_BYTES_MAX >> 20);
		sse_feed(&a->events, data, n);
		return answer_read_events(a, err);
	}
	buf_add(&a->whole, data, n);
	return a->whole.truncated ? answer_too_large(err) : 0;
}

static int answer_read_whole(struct answer *a, struct fh_error *err)
{
	static const char *const keys[] = { "choices", "type", "content", "id", "object", "model",
		"usage", "error" };
	struct fh_error why = FH_ERROR_INIT;
	auto_json json_t *root = NULL;
	int r;

	if (lenient_json("reply", buf_str(&a->whole), a->whole.len, &root, &why) < 0)
		return answer_complain_no_json(a, err);
	r = answer_read_error(a, root, err);
	if (r < 0)
		return r;
	r = answer_check_protocol(a, root, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_object_get(root, keys[i])) {
			if (a->keeps_text)
				json_add(&a->text, root, false);
			return a->dialect->read(&a->reply, root, err);
		}
	/* Refuse JSON without any member of a reply: the server is not a language model. */
	return error_say(err, EIO,
			"the server gave JSON that is not a reply of a model: --url should be the base of "
			"its API, which often ends with /v1");
}

int answer_end(struct answer *a, struct fh_error *err)
{
	int r;

	if (!a->is_stream)
		return answer_quote(a, buf_str(&a->whole), a->whole.len, answer_read_whole(a, err),
				err);
	sse_end(&a->events);
	r = answer_read_events(a, err);
	if (r < 0 || a->reply.ended || a->reply.stopped)
		return r;
	return error_say(err, EBADMSG, "the reply was cut off");
}

void answer_hide_key(struct answer *a)
{
	struct reply *r = &a->reply;

	hide_secret(&a->text, a->secret);
	hide_secret(&r->content, a->secret);
	hide_secret(&r->thinking, a->secret);
	for (size_t i = 0; i < r->n_uses; i++) {
		hide_secret(&r->uses[i].id, a->secret);
		hide_secret(&r->uses[i].name, a->secret);
		hide_secret(&r->uses[i].arguments, a->secret);
	}
}
