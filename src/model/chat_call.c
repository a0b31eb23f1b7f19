/* SPDX-License-Identifier: Apache-2.0 */
#include "model/chat_inside.h"

#include "base/clock.h"
#include "base/hide.h"
#include "base/mem.h"
#include "base/scope.h"
#include "model/verdict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * One question: a try, what follows from its failure, a pause, another try. A call is always in one
 * place: at work (`http`), among the paused, among the done, or with the caller.
 */
#define BODY_BYTES_MAX (256L * 1024 * 1024)
#define SENTENCE_MAX 900
#define BYTES_PER_TOKEN 4
#define PROVIDER_TOKENS_MOST 10000

/* --- from state to state ---------------------------------------------------------------------- */

void chat_call_set_timer(struct chat_service *s)
{
	const struct chat_call *first = TAILQ_FIRST(&s->paused);
	int64_t when = first ? first->resume_ns : INT64_MAX;

	http_wake_at(s->http, TAILQ_EMPTY(&s->done) ? when : 0);
}

/* A call ends, with what is in call->error or with a reply. */
static void finish(struct chat_call *call, int code)
{
	struct chat_service *s = call->model->service;

	call->code = code;
	call->state = CALL_DONE;
	TAILQ_INSERT_TAIL(&s->done, call, queued);
	chat_call_set_timer(s);
}

static void pause_call(struct chat_call *call, int64_t ms)
{
	struct chat_service *s = call->model->service;
	struct chat_call *next = TAILQ_FIRST(&s->paused);

	call->state = CALL_PAUSED;
	call->resume_ns = clock_now_ns() + ms * NS_PER_MS;
	while (next && next->resume_ns <= call->resume_ns)
		next = TAILQ_NEXT(next, queued);
	if (next)
		TAILQ_INSERT_BEFORE(next, call, queued);
	else
		TAILQ_INSERT_TAIL(&s->paused, call, queued);
	chat_call_set_timer(s);
}

/* The sentence of a failure, as callers see it: which model, and after how many tries. */
static void complain(struct chat_call *call, int error, const char *why)
{
	auto_buf struct buf text = BUF_INIT(SENTENCE_MAX);

	buf_add_str(&text, why);
	hide_in_complaint(&text, call->model->key);
	if (call->tries > 1)
		error_say(&call->error, error, "%s: %s (%d tries)", call->model->options.spec,
				buf_str(&text), call->tries);
	else
		error_say(&call->error, error, "%s: %s", call->model->options.spec, buf_str(&text));
	finish(call, call->error.code);
}

/* --- what a try's end means ------------------------------------------------------------------- */

static int64_t estimate(size_t bytes)
{
	return (int64_t)(bytes / BYTES_PER_TOKEN) + 1;
}

/* What the provider counted for the last one, and what has come since; all of it, if it is another. */
static int64_t conversation_tokens(const struct chat_call *call)
{
	const struct chat_model *m = call->model;

	if (!m->counted_tokens || call->n_text < m->counted_text)
		return estimate(call->n_text);
	return m->counted_tokens + estimate(call->n_text - m->counted_text);
}

/* A token is a byte at least, beside what a provider puts in by itself: more is nonsense. */
static void remember_count(struct chat_call *call, int64_t sent)
{
	struct chat_model *m = call->model;

	if (sent <= 0 || sent > (int64_t)call->n_body + PROVIDER_TOKENS_MOST)
		return;
	m->counted_text = call->n_text;
	m->counted_tokens = sent;
}

static void count(struct chat_call *call)
{
	struct chat_model *m = call->model;
	struct reply *r = &call->answer.reply;

	remember_count(call, r->sent);
	if (r->sent < 0)
		r->sent = estimate(call->n_text);
	if (r->received < 0)
		r->received = estimate(r->bytes);
	if (m->price)
		call->cost = price_of(m->price, r->sent, r->cached, r->stored, r->received);
	m->stats.cost += call->cost;
	m->service->cost += call->cost;
	m->stats.tokens_sent += r->sent;
	m->stats.tokens_received += r->received;
	m->stats.tokens_cached += r->cached;
	m->stats.calls++;
}

static bool is_over_limit(const struct chat_model *m)
{
	const struct chat_service *s = m->service;

	return (m->options.cost_limit > 0 && m->stats.cost > m->options.cost_limit) ||
			(s->cost_limit > 0 && s->cost > s->cost_limit);
}

/* A server that repeats the key must not bring it into the records, or to an agent's shell. What the provider
 * wants back (`keep`) goes to it alone, and is signed. */
static void hide_key(struct chat_call *call)
{
	const char *key = call->model->key;
	struct reply *r = &call->answer.reply;

	hide_secret(&r->content, key);
	hide_secret(&r->thinking, key);
	for (size_t i = 0; i < r->n_uses; i++) {
		hide_secret(&r->uses[i].id, key);
		hide_secret(&r->uses[i].name, key);
		hide_secret(&r->uses[i].arguments, key);
	}
}

static void succeed(struct chat_call *call)
{
	count(call);
	hide_key(call);
	if (is_over_limit(call->model) && chat_is_at_limit(call->model, &call->error))
		finish(call, call->error.code);
	else
		finish(call, 0);
}

static void tell_retry(
		const struct chat_call *call, const char *why, int64_t asked_ms, int64_t pause_ms)
{
	const struct chat_model *m = call->model;
	auto_buf struct buf text = BUF_INIT(SENTENCE_MAX);
	struct chat_retry retry = { .spec = m->options.spec,
		.tries = call->tries,
		.most = m->options.retries + 1,
		.pause_ms = pause_ms };

	if (!m->service->on_retry)
		return;
	buf_add_str(&text, why);
	hide_in_complaint(&text, m->key);
	if (asked_ms > PAUSE_ASKED_MOST_MS)
		buf_printf(&text, " (the server asks for a pause of %lld s, and gets %lld s)",
				(long long)asked_ms / 1000, (long long)pause_ms / 1000);
	retry.why = buf_str(&text);
	retry.is_first = chat_trouble_is_news(
			m->service, m->options.spec, asked_ms > PAUSE_ASKED_MOST_MS);
	m->service->on_retry(call->user, &retry);
}

static void fail(struct chat_call *call, enum verdict verdict, const char *why, int64_t asked_ms)
{
	struct chat_model *m = call->model;
	bool again = verdict == VERDICT_AGAIN && call->tries <= m->options.retries;
	int64_t pause_ms;

	if (!again) {
		complain(call, verdict == VERDICT_TOO_LONG ? E2BIG : EIO, why);
		return;
	}
	m->stats.retries++;
	pause_ms = verdict_pause_ms(call->tries, asked_ms, &m->random);
	tell_retry(call, why, asked_ms, pause_ms);
	pause_call(call, pause_ms);
}

static enum verdict verdict_of_code(int code)
{
	if (code == -EBADMSG)
		return VERDICT_AGAIN;
	return code == -E2BIG ? VERDICT_TOO_LONG : VERDICT_OVER;
}

/* An answer with status 200 came, whole or not. */
static void judge_reply(struct chat_call *call, const struct http_end *end)
{
	struct fh_error why = call->broken;
	int r = why.code;

	if (r == 0 && end->error == HTTP_ANSWERED)
		r = answer_end(&call->answer, &why);
	if (r < 0)
		fail(call, verdict_of_code(r), why.message, end->retry_after_ms);
	else if (end->error != HTTP_ANSWERED && !call->answer.reply.ended)
		fail(call, VERDICT_AGAIN, end->sentence, end->retry_after_ms);
	else
		succeed(call);
}

static void on_end(void *user, const struct http_end *end)
{
	struct chat_call *call = user;
	auto_buf struct buf why = BUF_INIT(SENTENCE_MAX);

	call->http = NULL;
	if (end->error == HTTP_USELESS) {
		fail(call, VERDICT_OVER, end->sentence, -1);
	} else if (end->status == 200) {
		judge_reply(call, end);
	} else if (end->error != HTTP_ANSWERED && end->error != HTTP_REFUSED) {
		fail(call, VERDICT_AGAIN, end->sentence, end->retry_after_ms);
	} else {
		const struct buf *body = &call->answer.whole;
		const struct verdict_answer answer = {
			.status = end->status,
			.body = buf_str(body),
			.n_body = body->len,
			.location = end->location,
		};
		enum verdict verdict = verdict_of_answer(&answer, call->model->key, &why);

		fail(call, verdict, buf_str(&why), end->retry_after_ms);
	}
}

static bool on_data(void *user, const char *data, size_t n)
{
	struct chat_call *call = user;
	struct answer *answer = &call->answer;

	if (!answer->begun)
		answer->is_stream = http_status(call->http) == 200 &&
				http_is_event_stream(call->http);
	return answer_feed(answer, data, n, &call->broken) == 0;
}

/* --- tries ------------------------------------------------------------------------------------ */

static void try(struct chat_call *call)
{
	struct chat_model *m = call->model;
	struct fh_error why = FH_ERROR_INIT;
	const struct http_request request = {
		.url = m->url,
		.headers = m->headers,
		.body = call->body,
		.n_body = call->n_body,
		.timeout_ms = m->options.timeout_ms,
		.user = call,
		.data = on_data,
		.end = on_end,
	};

	answer_release(&call->answer);
	answer_init(&call->answer, m->vendor->dialect, m->key);
	call->broken.code = 0;
	call->state = CALL_ASKING;
	call->tries++;
	if (http_start(m->service->http, &request, &call->http, &why) < 0)
		fail(call, VERDICT_AGAIN, why.message, -1);
}

void chat_call_resume_paused(struct chat_service *s)
{
	int64_t now = clock_now_ns();
	struct chat_call *call;

	while ((call = TAILQ_FIRST(&s->paused)) && call->resume_ns <= now) {
		TAILQ_REMOVE(&s->paused, call, queued);
		try(call);
	}
}

/* --- begin ------------------------------------------------------------------------------------ */

static size_t text_bytes(const struct chat_request *request)
{
	size_t n = 0;

	for (size_t i = 0; i < request->n_messages; i++) {
		const struct chat_message *message = &request->messages[i];

		n += strlen(message->content);
		for (size_t j = 0; j < message->n_uses; j++)
			n += strlen(message->uses[j].arguments);
	}
	for (size_t i = 0; i < request->n_tools; i++)
		if (request->tools[i].parameters)
			n += strlen(request->tools[i].parameters);
	return n;
}

/* The extra fields go over all others; a null takes one out. */
static void add_extra(json_t *body, json_t *extra)
{
	const char *key;
	json_t *value;

	json_object_foreach(extra, key, value) {
		if (json_is_null(value))
			json_object_del(body, key);
		else
			json_object_set(body, key, value);
	}
}

static int write_body(
		struct chat_call *call, const struct chat_request *request, struct fh_error *err)
{
	struct chat_model *m = call->model;
	const struct dialect_request written = {
		.model = m->name,
		.options = &m->options,
		.chat = request,
		.own_address = m->own_address,
	};
	auto_buf struct buf text = BUF_INIT(BODY_BYTES_MAX);
	auto_json json_t *body = NULL;
	int r = m->vendor->dialect->write(&written, &body, err);

	if (r < 0)
		return r;
	add_extra(body, m->extra);
	json_add(&text, body, false);
	if (text.truncated)
		return error_say(err, EINVAL, "a conversation of more than %ld MiB",
				BODY_BYTES_MAX >> 20);
	call->n_body = text.len;
	call->body = buf_take(&text);
	call->n_text = text_bytes(request);
	return 0;
}

/* Sent, unless it is known that it would be for nothing. */
static void begin(struct chat_call *call)
{
	const struct chat_model *m = call->model;
	int64_t tokens = conversation_tokens(call);

	if (chat_is_at_limit(m, &call->error)) {
		finish(call, call->error.code);
	} else if (m->context && tokens > m->context) {
		error_say(&call->error, E2BIG,
				"%s: the conversation has about %lld tokens, its context holds %lld",
				m->options.spec, (long long)tokens, (long long)m->context);
		finish(call, call->error.code);
	} else {
		try(call);
	}
}

int chat_begin(struct chat_model *m, const struct chat_request *request, void *user,
		struct chat_call **out, struct fh_error *err)
{
	struct chat_call *call = xcalloc(1, sizeof(*call));
	int r;

	call->model = m;
	call->user = user;
	call->state = CALL_GIVEN;
	answer_init(&call->answer, m->vendor->dialect, m->key);
	TAILQ_INSERT_TAIL(&m->calls, call, of_model);
	r = write_body(call, request, err);
	if (r < 0) {
		chat_call_free(call);
		return r;
	}
	begin(call);
	*out = call;
	return 0;
}

void *chat_call_user(const struct chat_call *call)
{
	return call->user;
}

/* --- end -------------------------------------------------------------------------------------- */

/* What an agent's answer to a use refers to must be there, though some servers give none. */
static const char *use_id(struct reply_use *use, size_t i)
{
	if (!use->id.len)
		buf_printf(&use->id, "call_%zu", i + 1);
	return buf_str(&use->id);
}

static void give_uses(struct chat_call *call, struct chat_reply *out)
{
	struct reply *r = &call->answer.reply;

	free(call->uses);
	call->uses = xcalloc(r->n_uses + 1, sizeof(*call->uses));
	for (size_t i = 0; i < r->n_uses; i++) {
		const struct buf *arguments = &r->uses[i].arguments;

		call->uses[i] = (struct chat_use){
			.id = use_id(&r->uses[i], i),
			.name = buf_str(&r->uses[i].name),
			.arguments = arguments->len ? buf_str(arguments) : "{}",
		};
	}
	out->uses = call->uses;
	out->n_uses = r->n_uses;
	/* Some servers say "stop" here. */
	if (r->n_uses && out->stop == CHAT_STOP_END)
		out->stop = CHAT_STOP_TOOLS;
}

static const char *keep_text(struct chat_call *call)
{
	auto_buf struct buf text = BUF_INIT(BODY_BYTES_MAX);

	if (!call->answer.reply.keep)
		return NULL;
	json_add(&text, call->answer.reply.keep, false);
	free(call->keep);
	call->keep = buf_take(&text);
	return call->keep;
}

int chat_end(struct chat_call *call, struct chat_reply *out, struct fh_error *err)
{
	struct reply *r = &call->answer.reply;

	if (call->state != CALL_GIVEN)
		return error_say(err, EBUSY, "the call is not over yet");
	if (call->code < 0) {
		if (err)
			*err = call->error;
		return call->code;
	}
	*out = (struct chat_reply){
		.content = buf_str(&r->content),
		.thinking = r->thinking.len ? buf_str(&r->thinking) : NULL,
		.keep = keep_text(call),
		.stop = r->stop,
		.tokens_sent = r->sent,
		.tokens_received = r->received,
		.cost = call->cost,
	};
	give_uses(call, out);
	return 0;
}

void chat_call_free(struct chat_call *call)
{
	struct chat_service *s;

	if (!call)
		return;
	s = call->model->service;
	if (call->http)
		http_cancel(call->http);
	if (call->state == CALL_PAUSED)
		TAILQ_REMOVE(&s->paused, call, queued);
	if (call->state == CALL_DONE)
		TAILQ_REMOVE(&s->done, call, queued);
	TAILQ_REMOVE(&call->model->calls, call, of_model);
	answer_release(&call->answer);
	free(call->body);
	free(call->keep);
	free(call->uses);
	free(call);
}
