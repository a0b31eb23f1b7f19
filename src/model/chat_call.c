/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/hide.h"
#include "base/job.h"
#include "base/mem.h"
#include "base/scope.h"
#include "model/answer.h"
#include "model/chat_model.h"
#include "model/verdict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A call of a language model. First its request is written as JSON. Then it is sent; after a
 * failure it is sent again after a pause. At any time a call is in service->writing, sent (`http`),
 * in service->paused, in service->done, or returned to the caller.
 */
#define BODY_BYTES_MAX (256L * 1024 * 1024)
#define SENTENCE_MAX 900
#define BYTES_PER_TOKEN 4
#define PROVIDER_TOKENS_MOST 10000
/* Texts of a conversation with more bytes than this are written as JSON in a thread. Writing this
 * many takes 1 ms. */
#define WRITTEN_AT_ONCE_BYTES (256L * 1024)

enum call_state { CALL_WRITING, CALL_ASKING, CALL_PAUSED, CALL_DONE, CALL_GIVEN };

struct chat_call {
	struct chat_model *model;
	void *user;
	TAILQ_ENTRY(chat_call) of_model;
	/* link in the list that has the call: service->writing, ->paused or ->done */
	TAILQ_ENTRY(chat_call) queued;
	enum call_state state;
	/* request of the caller, who owns its strings; not used once it is written as JSON */
	struct chat_request request;
	struct job *writing; /* job that writes the request in a thread; NULL: none, or ended */
	char *body;
	size_t n_body;
	size_t n_text; /* bytes of the request's texts, as chat_request_bytes() counts */
	int tries;
	int unreadable_tries; /* number of tries so far whose reply could not be read */
	int64_t resume_ns;
	/* The HTTP request of the current try; NULL between tries. */
	struct http_call *http;
	struct answer answer;
	/* why the answer that is arriving was refused; code 0: it was not refused */
	struct fh_error broken;
	/* result of the call of a language model: 0 if there is a reply, else a negative errno */
	int code;
	struct fh_error error;
	double cost;
	char *keep;
	struct chat_use *uses;
	json_t *sent; /* the raw request as it is sent; NULL: there is none */
	int status;   /* HTTP status of the last answer; 0: none */
};

/* --- how a call changes its state ------------------------------------------------------------- */

static void chat_service_set_timer(struct chat_service *s)
{
	const struct chat_call *first = TAILQ_FIRST(&s->paused);
	int64_t when = first ? first->resume_ns : INT64_MAX;

	http_wake_at(s->http, TAILQ_EMPTY(&s->done) ? when : 0);
}

/* Ends a call of a language model with `code`: 0 for a reply, else call->error has the reason. */
static void chat_call_finish(struct chat_call *call, int code)
{
	struct chat_service *s = call->model->service;

	call->code = code;
	call->state = CALL_DONE;
	TAILQ_INSERT_TAIL(&s->done, call, queued);
	chat_service_set_timer(s);
}

static void chat_call_pause(struct chat_call *call, int64_t ms)
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
	chat_service_set_timer(s);
}

/* --- ends of tries ---------------------------------------------------------------------------- */

static int64_t chat_estimate(size_t bytes)
{
	return (int64_t)(bytes / BYTES_PER_TOKEN) + 1;
}

static void chat_call_count(struct chat_call *call)
{
	struct chat_model *m = call->model;
	struct reply *r = &call->answer.reply;

	/* Ignore a token count that is too large. A request has fewer tokens than bytes, and
	 * providers add only a few. */
	if (r->sent > 0 && r->sent <= (int64_t)call->n_body + PROVIDER_TOKENS_MOST) {
		m->counted_text = call->n_text;
		m->counted_tokens = r->sent;
	}
	if (r->sent < 0)
		r->sent = chat_estimate(call->n_text);
	if (r->received < 0)
		r->received = chat_estimate(r->bytes);
	call->cost = m->price ? price_of(m->price, r->sent, r->cached, r->stored, r->received) : 0;
	m->stats.unpriced += !m->price;
	m->stats.cost += call->cost;
	m->service->cost += call->cost;
	m->stats.tokens_sent += r->sent;
	m->stats.tokens_received += r->received;
	m->stats.tokens_cached += r->cached;
	m->stats.calls++;
}

static void chat_call_succeed(struct chat_call *call)
{
	const struct chat_model *m = call->model;
	const struct chat_service *s = m->service;
	bool is_over;

	chat_call_count(call);
	answer_hide_key(&call->answer);
	is_over = (m->options.cost_limit > 0 && m->stats.cost > m->options.cost_limit) ||
			(s->cost_limit > 0 && s->cost > s->cost_limit);
	if (is_over && chat_is_at_limit(m, &call->error))
		chat_call_finish(call, call->error.code);
	else
		chat_call_finish(call, 0);
}

static void chat_call_tell_retry(const struct chat_call *call, const char *why, int left,
		int64_t asked_ms, int64_t pause_ms)
{
	const struct chat_model *m = call->model;
	auto_buf struct buf text = BUF_INIT(SENTENCE_MAX);
	struct chat_retry retry = { .spec = m->options.spec,
		.tries = call->tries,
		.most = call->tries + left,
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

static void chat_call_fail(
		struct chat_call *call, enum verdict verdict, const char *why, int64_t asked_ms)
{
	struct chat_model *m = call->model;
	const char *spec = m->options.spec;
	int error = verdict == VERDICT_TOO_LONG ? E2BIG : EIO;
	auto_buf struct buf text = BUF_INIT(SENTENCE_MAX);
	int64_t pause_ms;
	int left;

	call->unreadable_tries += verdict == VERDICT_UNREADABLE;
	left = verdict_retries_left(
			verdict, m->options.retries + 1 - call->tries, call->unreadable_tries);
	if (left <= 0) {
		buf_add_str(&text, why);
		hide_in_complaint(&text, m->key);
		if (call->tries > 1)
			error_say(&call->error, error, "%s: %s (%d tries)", spec, buf_str(&text),
					call->tries);
		else
			error_say(&call->error, error, "%s: %s", spec, buf_str(&text));
		chat_call_finish(call, call->error.code);
		return;
	}
	m->stats.retries++;
	pause_ms = verdict_pause_ms(call->tries, asked_ms, &m->random);
	chat_call_tell_retry(call, why, left, asked_ms, pause_ms);
	chat_call_pause(call, pause_ms);
}

/* Decides if an answer with HTTP status 200 gives a reply, a retry or an error. The answer may be
 * incomplete. */
static void chat_call_judge(struct chat_call *call, const struct http_end *end)
{
	struct fh_error why = call->broken;
	enum verdict verdict = VERDICT_OVER;

	if (!why.code && end->error == HTTP_ANSWERED)
		answer_end(&call->answer, &why);
	if (why.code == -EBADMSG)
		verdict = VERDICT_AGAIN;
	else if (why.code == -EPROTO)
		verdict = VERDICT_UNREADABLE;
	else if (why.code == -E2BIG)
		verdict = VERDICT_TOO_LONG;
	if (why.code < 0)
		chat_call_fail(call, verdict, why.message, end->retry_after_ms);
	else if (end->error != HTTP_ANSWERED && !call->answer.reply.ended)
		chat_call_fail(call, VERDICT_AGAIN, end->sentence, end->retry_after_ms);
	else
		chat_call_succeed(call);
}

static void chat_call_on_end(void *user, const struct http_end *end)
{
	struct chat_call *call = user;
	auto_buf struct buf why = BUF_INIT(SENTENCE_MAX);

	call->http = NULL;
	call->status = end->status;
	if (end->error == HTTP_USELESS) {
		chat_call_fail(call, VERDICT_OVER, end->sentence, -1);
	} else if (end->status == 200) {
		chat_call_judge(call, end);
	} else if (end->error != HTTP_ANSWERED && end->error != HTTP_REFUSED) {
		chat_call_fail(call, VERDICT_AGAIN, end->sentence, end->retry_after_ms);
	} else {
		const struct buf *body = &call->answer.whole;
		const struct verdict_answer answer = {
			.status = end->status,
			.body = buf_str(body),
			.n_body = body->len,
			.location = end->location,
		};
		enum verdict verdict = verdict_of_answer(&answer, call->model->key, &why);

		chat_call_fail(call, verdict, buf_str(&why), end->retry_after_ms);
	}
}

static bool chat_call_on_data(void *user, const char *data, size_t n)
{
	struct chat_call *call = user;
	struct answer *answer = &call->answer;

	if (!answer->begun)
		answer->is_stream = http_status(call->http) == 200 &&
				http_is_event_stream(call->http);
	return answer_feed(answer, data, n, &call->broken) == 0;
}

/* --- tries ------------------------------------------------------------------------------------ */

static void chat_call_try(struct chat_call *call)
{
	struct chat_model *m = call->model;
	struct fh_error why = FH_ERROR_INIT;
	const struct http_request request = {
		.url = m->url,
		.headers = &m->headers,
		.body = call->body,
		.n_body = call->n_body,
		.timeout_ms = m->options.timeout_ms,
		.user = call,
		.data = chat_call_on_data,
		.end = chat_call_on_end,
	};

	answer_release(&call->answer);
	answer_init(&call->answer, m->vendor->dialect, m->key);
	call->answer.keeps_text = call->request.raw != NULL;
	call->broken.code = 0;
	call->state = CALL_ASKING;
	call->tries++;
	if (http_start(m->service->http, &request, &call->http, &why) < 0)
		chat_call_fail(call, VERDICT_AGAIN, why.message, -1);
}

/* --- begin ------------------------------------------------------------------------------------ */

/* Writes the body of a call's request as JSON. A job runs it in a thread: its type is job_work. */
static int chat_call_write(void *user, struct fh_error *err)
{
	struct chat_call *call = user;
	auto_buf struct buf text = BUF_INIT(BODY_BYTES_MAX);
	int r = chat_request_write(call->model, &call->request, &text, &call->sent, err);

	if (r < 0)
		return r;
	call->n_body = text.len;
	call->body = buf_take(&text);
	return 0;
}

/* Sends the first try of a call. Ends the call if its request could not be written: `r` is
 * negative. Ends it too if a cost limit is reached, or the conversation exceeds the context. */
static void chat_call_start(struct chat_call *call, int r)
{
	const struct chat_model *m = call->model;
	/* Estimate the conversation's tokens. If text was added since the provider last counted,
	 * add an estimate of that text to the provider's count. Otherwise estimate all text. */
	bool is_longer = m->counted_tokens && call->n_text >= m->counted_text;
	int64_t tokens = is_longer
			? m->counted_tokens + chat_estimate(call->n_text - m->counted_text)
			: chat_estimate(call->n_text);

	if (r < 0 || chat_is_at_limit(m, &call->error)) {
		chat_call_finish(call, call->error.code);
	} else if (m->context && tokens > m->context && !call->request.raw) {
		error_say(&call->error, E2BIG,
				"%s: the conversation has about %lld tokens, more than the %lld of "
				"its context",
				m->options.spec, (long long)tokens, (long long)m->context);
		chat_call_finish(call, call->error.code);
	} else {
		chat_call_try(call);
	}
}

struct chat_call *chat_begin(struct chat_model *m, const struct chat_request *request, void *user)
{
	struct chat_call *call = xcalloc(1, sizeof(*call));
	struct chat_service *s = m->service;

	call->model = m;
	call->user = user;
	call->request = *request;
	call->n_text = chat_request_bytes(request);
	answer_init(&call->answer, m->vendor->dialect, m->key);
	TAILQ_INSERT_TAIL(&m->calls, call, of_model);
	if (call->n_text > WRITTEN_AT_ONCE_BYTES &&
			job_begin_shared(s->written_fd, chat_call_write, call, "write a request",
					&call->writing, NULL) == 0) {
		call->state = CALL_WRITING;
		TAILQ_INSERT_TAIL(&s->writing, call, queued);
	} else {
		chat_call_start(call, chat_call_write(call, &call->error));
	}
	return call;
}

/* Sends the first try of each call whose request has been written. */
static void chat_service_start_written(struct chat_service *s)
{
	struct chat_call *next;
	uint64_t count;

	/* Reset the eventfd first: a job that ends from now on makes it readable again. */
	(void)!read(s->written_fd, &count, sizeof(count));
	for (struct chat_call *call = TAILQ_FIRST(&s->writing); call; call = next) {
		next = TAILQ_NEXT(call, queued);
		if (!job_is_over(call->writing))
			continue;
		TAILQ_REMOVE(&s->writing, call, queued);
		chat_call_start(call, job_end(take_ptr(call->writing), &call->error));
	}
}

size_t chat_service_advance(struct chat_service *s, struct chat_call **out_done, size_t max)
{
	struct chat_call *call;
	size_t n = 0;
	int64_t now;

	if (!TAILQ_EMPTY(&s->writing))
		chat_service_start_written(s);
	http_advance(s->http);
	now = clock_now_ns();
	while ((call = TAILQ_FIRST(&s->paused)) && call->resume_ns <= now) {
		TAILQ_REMOVE(&s->paused, call, queued);
		chat_call_try(call);
	}
	while (n < max && (call = TAILQ_FIRST(&s->done))) {
		TAILQ_REMOVE(&s->done, call, queued);
		call->state = CALL_GIVEN;
		out_done[n++] = call;
	}
	chat_service_set_timer(s);
	return n;
}

void *chat_call_user(const struct chat_call *call)
{
	return call->user;
}

/* --- end -------------------------------------------------------------------------------------- */

static void chat_call_make_uses(struct chat_call *call)
{
	struct reply *r = &call->answer.reply;

	free(call->uses);
	call->uses = xcalloc(r->n_uses + 1, sizeof(*call->uses));
	for (size_t i = 0; i < r->n_uses; i++) {
		struct reply_use *use = &r->uses[i];

		/* Give an id to a tool call without one: the message with the tool's result needs
		 * the id. */
		if (!use->id.len)
			buf_printf(&use->id, "call_%zu", i + 1);
		call->uses[i] = (struct chat_use){
			.id = buf_str(&use->id),
			.name = buf_str(&use->name),
			.arguments = use->arguments.len ? buf_str(&use->arguments) : "{}",
		};
	}
}

int chat_end(struct chat_call *call, struct chat_reply *out, struct fh_error *err)
{
	struct reply *r = &call->answer.reply;
	auto_buf struct buf keep = BUF_INIT(BODY_BYTES_MAX);

	if (call->state != CALL_GIVEN)
		return error_say(err, EBUSY, "the call has not ended yet");
	if (call->code < 0) {
		if (err)
			*err = call->error;
		return call->code;
	}
	free(call->keep);
	call->keep = NULL;
	if (r->keep) {
		json_add(&keep, r->keep, false);
		call->keep = buf_take(&keep);
	}
	chat_call_make_uses(call);
	*out = (struct chat_reply){
		.raw = call->answer.keeps_text ? buf_str(&call->answer.text) : NULL,
		.content = buf_str(&r->content),
		.thinking = r->thinking.len ? buf_str(&r->thinking) : NULL,
		.keep = call->keep,
		.uses = call->uses,
		.n_uses = r->n_uses,
		.stop = r->stop,
		.tokens_sent = r->sent,
		.tokens_received = r->received,
		.cost = call->cost,
	};
	/* Set the reason why the model stopped: some servers give "stop" even if the model calls
	 * tools. */
	if (r->n_uses && r->stop == CHAT_STOP_END)
		out->stop = CHAT_STOP_TOOLS;
	return 0;
}

json_t *chat_call_sent(const struct chat_call *call)
{
	return call->sent;
}

int chat_call_status(const struct chat_call *call)
{
	return call->status;
}

void chat_call_free(struct chat_call *call)
{
	struct chat_service *s;

	if (!call)
		return;
	s = call->model->service;
	if (call->state == CALL_WRITING) {
		TAILQ_REMOVE(&s->writing, call, queued);
		job_end(call->writing, NULL);
	}
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
	json_decref(call->sent);
	free(call);
}

void chat_model_close(struct chat_model *m)
{
	if (!m)
		return;
	while (!TAILQ_EMPTY(&m->calls))
		chat_call_free(TAILQ_FIRST(&m->calls));
	chat_model_free(m);
}
