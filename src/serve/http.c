/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/http.h"

#include "base/clock.h"
#include "base/http_phrase.h"
#include "base/scope.h"
#include "base/str.h"
#include "serve/mcp.h"
#include "serve/openenv.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define HTTP_CHUNK_BYTES (32L << 10)
#define HTTP_HEAD_BYTES 1024
#define SEND_TIMEOUT_S 30 /* a client that takes no data for this long is gone */
/* A call that takes longer is answered as a stream of events. Comments in the stream keep clients
 * from giving up: many wait 5 s for data. */
#define STREAM_AFTER_NS (2 * NS_PER_S)

/* An answer is sent within this time if the client sent its next request too early. */
#define MORE_TIMEOUT_NS (2 * NS_PER_S)
#define MORE_BYTES 65536

#define JSON "application/json"

/* --- routes ----------------------------------------------------------------------------------- */

struct route {
	const char *path;
	int method; /* WSI_TOKEN_GET_URI, ... */
	bool open;  /* needs no token */
	void (*take)(struct connection *c, const char *body, size_t n);
};

static void http_health(struct connection *c, const char *body, size_t n)
{
	bool draining = c->net->seats.draining;

	client_begin(&c->client, CLIENT_HTTP);
	buf_add_str(&c->client.answer,
			draining ? "{\"status\":\"unhealthy\"}" : "{\"status\":\"healthy\"}");
	client_end(&c->client, draining ? 503 : 200);
}

static void http_metrics(struct connection *c, const char *body, size_t n)
{
	const struct seats *all = &c->net->seats;
	struct metrics_now now = { .sessions = all->n,
		.connections = c->net->n_connections,
		.max_sessions = all->host->options->max_sessions };

	client_begin(&c->client, CLIENT_HTTP);
	c->mime = "text/plain; version=0.0.4; charset=utf-8";
	metrics_write(&all->host->metrics, &now, &c->client.answer);
	client_end(&c->client, 200);
}

static void http_metadata(struct connection *c, const char *body, size_t n)
{
	openenv_get_metadata(&c->client);
}

static void http_schema(struct connection *c, const char *body, size_t n)
{
	openenv_get_schema(&c->client);
}

static void http_openapi(struct connection *c, const char *body, size_t n)
{
	openenv_get_openapi(&c->client);
}

static void http_state(struct connection *c, const char *body, size_t n)
{
	char argument[URL_ARGUMENT_BYTES];
	const char *given = lws_api.get_urlarg_by_name(
			c->wsi, "episode_id=", argument, sizeof(argument));

	openenv_get_state(&c->client, given);
}

static void http_reset(struct connection *c, const char *body, size_t n)
{
	openenv_post_reset(&c->client, body, n);
}

static void http_step(struct connection *c, const char *body, size_t n)
{
	openenv_post_step(&c->client, body, n);
}

/* Finds the session that the header Mcp-Session-Id names. NULL: there is no such session. *named is
 * false if the request lacks the header. */
static struct seat *http_find_session(const struct connection *c, bool *named)
{
	static const char header[] = "mcp-session-id:";
	char id[SEAT_ID_BYTES + 1] = "";

	*named = lws_api.hdr_custom_length(c->wsi, header, sizeof(header) - 1) >= 0;
	if (*named)
		lws_api.hdr_custom_copy(c->wsi, id, sizeof(id), header, sizeof(header) - 1);
	return *named ? seats_find(&c->net->seats, id) : NULL;
}

/* Begins a conversation: its session outlives this request, and its later requests name it. */
static bool http_begin_mcp(struct connection *c)
{
	struct seat *s = seats_open(&c->net->seats);

	if (!s) {
		client_begin(&c->client, CLIENT_RPC);
		mcp_refuse_full(&c->client);
		return false;
	}
	s->detached = true;
	client_use_seat(&c->client, s);
	memcpy(c->opened_session, s->id, sizeof(c->opened_session));
	return true;
}

static void http_mcp(struct connection *c, const char *body, size_t n)
{
	bool named;
	struct seat *s = http_find_session(c, &named);

	if (named && !s) {
		client_begin(&c->client, CLIENT_RPC);
		mcp_refuse(&c->client, 404, "there is no such session");
		return;
	}
	if (s)
		client_use_seat(&c->client, s);
	else if (mcp_is("initialize", body, n) && !http_begin_mcp(c))
		return;
	mcp_message(&c->client, body, n);
}

static void http_end_mcp(struct connection *c, const char *body, size_t n)
{
	bool named;
	struct seat *s = http_find_session(c, &named);

	client_begin(&c->client, CLIENT_RPC);
	if (!s || !s->detached) {
		mcp_refuse(&c->client, named ? 404 : 400, "there is no such session");
		return;
	}
	seats_close(&c->net->seats, s);
	buf_clear(&c->client.answer);
	client_end(&c->client, 200);
}

static const struct route routes[] = {
	{ "/health", WSI_TOKEN_GET_URI, true, http_health },
	{ "/metrics", WSI_TOKEN_GET_URI, false, http_metrics },
	{ "/metadata", WSI_TOKEN_GET_URI, false, http_metadata },
	{ "/schema", WSI_TOKEN_GET_URI, false, http_schema },
	{ "/openapi.json", WSI_TOKEN_GET_URI, false, http_openapi },
	{ "/state", WSI_TOKEN_GET_URI, false, http_state },
	{ "/reset", WSI_TOKEN_POST_URI, false, http_reset },
	{ "/step", WSI_TOKEN_POST_URI, false, http_step },
	{ "/mcp", WSI_TOKEN_POST_URI, false, http_mcp },
	{ "/mcp", WSI_TOKEN_DELETE_URI, false, http_end_mcp },
};

/* --- requests --------------------------------------------------------------------------------- */

/* The library has a request's method as a header with the path. */
static bool http_has_header(const struct connection *c, int header)
{
	return lws_api.hdr_total_length(c->wsi, (enum lws_token_indexes)header) > 0;
}

/* Finds the request's route, or the status that refuses it. */
static void http_find_route(struct connection *c, const char *path)
{
	c->route = NULL;
	c->refused = 404;
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (!str_eq(routes[i].path, path))
			continue;
		c->refused = 405;
		if (!http_has_header(c, routes[i].method))
			continue;
		c->route = &routes[i];
		c->refused = 0;
		return;
	}
}

static void http_check(struct connection *c)
{
	struct guard_texts texts;

	switch (connection_guard(c, &texts, !c->route || !c->route->open)) {
	case GUARD_OK:
		if (c->route && !c->route->open)
			connection_prove(c);
		return;
	case GUARD_WRONG_TOKEN:
		c->refused = 401;
		break;
	case GUARD_WRONG_HOST:
	case GUARD_WRONG_ORIGIN:
		c->refused = 403;
		break;
	}
	c->net->host->metrics.refusals++;
}

/* Reads the length of the body. Returns -1 and sets `refused` if it is missing or wrong. */
static int64_t http_body_length(struct connection *c)
{
	char text[32];
	int64_t n;
	int copied = lws_api.hdr_copy(c->wsi, text, sizeof(text), WSI_TOKEN_HTTP_CONTENT_LENGTH);

	/* A proxy may take the body to end elsewhere. */
	if (copied && http_has_header(c, WSI_TOKEN_HTTP_TRANSFER_ENCODING)) {
		c->refused = 400;
		return -1;
	}
	if (copied == 0 && !http_has_header(c, WSI_TOKEN_POST_URI))
		return 0;
	if (copied > 0 && str_to_i64(text, &n) && n >= 0) {
		if (n <= CLIENT_MESSAGE_BYTES_MAX)
			return n;
		c->refused = 413;
	} else {
		c->refused = copied ? 400 : 411;
	}
	return -1;
}

static bool http_takes_events(struct connection *c)
{
	char accept[256] = "";

	return lws_api.hdr_copy(c->wsi, accept, sizeof(accept), WSI_TOKEN_HTTP_ACCEPT) > 0 &&
			strstr(accept, "text/event-stream");
}

static void http_answered(void *user)
{
	struct connection *c = user;

	connection_go_on(c);
	c->sent = 0;
	c->turns = 0;
	c->sending = true;
	lws_api.callback_on_writable(c->wsi);
}

/* Tells the client why a request was refused. */
static const char *http_detail(int status)
{
	static const struct {
		int status;
		const char *detail;
	} details[] = {
		{ 400, "bad request" },
		{ 401, "a token is needed: Authorization: Bearer TOKEN" },
		{ 403, "this host or origin is not allowed" },
		{ 404, "not found" },
		{ 405, "method not allowed" },
		{ 411, "Content-Length is missing" },
		{ 413, "the body is too large" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(details); i++)
		if (details[i].status == status)
			return details[i].detail;
	return "refused";
}

static void http_answer_refusal(struct connection *c)
{
	client_begin(&c->client, CLIENT_HTTP);
	buf_printf(&c->client.answer, "{\"detail\":\"%s\"}", http_detail(c->refused));
	client_end(&c->client, c->refused);
}

int http_take_request(struct connection *c, const char *path)
{
	int64_t n;

	if (c->has_client)
		client_release(&c->client);
	client_init(&c->client, &c->net->seats, http_answered, c);
	c->has_client = true;
	c->sending = c->headed = c->streams = c->ending = c->taken = false;
	c->turns = 0;
	c->more_ns = 0;
	c->mime = JSON;
	*c->opened_session = '\0';
	c->asked_ns = clock_now_ns();
	buf_clear(&c->in);
	c->net->host->metrics.requests++;
	http_find_route(c, path);
	http_check(c);
	c->takes_events = http_takes_events(c);
	n = http_body_length(c);
	c->bodied = n > 0 || http_has_header(c, WSI_TOKEN_POST_URI);
	if (n >= 0 && c->bodied)
		return 0; /* the body comes, also of a refused request and an empty one */
	/* A body of unknown length can't be told from the next request: close the connection. */
	c->ending = n < 0;
	return http_body_end(c);
}

int http_body(struct connection *c, const char *data, size_t n)
{
	if (!c->refused && !c->taken)
		buf_add(&c->in, data, n);
	return c->in.truncated ? -1 : 0;
}

/*
 * Takes note that the client sent more before it got its answer. libwebsockets keeps these bytes,
 * and reports the end of the body again and again. So the connection ends with the answer. It ends
 * now if no answer is ready, or if the request itself came too early.
 */
static int http_take_more(struct connection *c)
{
	c->ending = true;
	if (!c->more_ns)
		c->more_ns = clock_now_ns();
	return c->client.busy || c->unsure || clock_now_ns() - c->more_ns > MORE_TIMEOUT_NS ? -1
											    : 0;
}

int http_body_end(struct connection *c)
{
	if (c->taken)
		return http_take_more(c);
	c->taken = true;
	if (c->bodied && c->unsure)
		lws_api.callback_on_writable(c->wsi); /* http_rest() stops the reading */
	else if (c->bodied)
		connection_stop(c);
	/* The answer may take long: no timeout of the library's ends the connection. */
	lws_api.set_timeout(c->wsi, NO_PENDING_TIMEOUT, 0);
	if (c->refused)
		http_answer_refusal(c);
	else
		c->route->take(c, buf_str(&c->in), c->in.len);
	return 0;
}

/* --- answers ---------------------------------------------------------------------------------- */

struct http_head {
	struct connection *c;
	unsigned char *p, *end;
	bool failed;
};

/* name == NULL: the value is the whole line. */
static void http_add(struct http_head *h, const char *name, const char *value)
{
	if (lws_api.add_http_header_by_name(h->c->wsi, (const unsigned char *)name,
			    (const unsigned char *)value, (int)strlen(value), &h->p, h->end))
		h->failed = true;
}

/* Sends the headers of an answer. length < 0: the answer ends with the connection. */
static int http_send_head(struct connection *c, int status, const char *mime, int64_t length)
{
	unsigned char head[LWS_PRE + HTTP_HEAD_BYTES];
	char line[64];
	struct http_head h = { .c = c, .p = head + LWS_PRE, .end = head + sizeof(head) - 1 };

	/* libwebsockets would refuse a handshake by HTTP/1.0, which clients don't take. */
	snprintf(line, sizeof(line), "HTTP/1.1 %d %s", status, http_phrase(status));
	http_add(&h, NULL, line);
	http_add(&h, "content-type:", mime);
	http_add(&h, "cache-control:", "no-store");
	http_add(&h, "x-content-type-options:", "nosniff");
	if (status == 401)
		http_add(&h, "www-authenticate:", "Bearer");
	if (*c->opened_session)
		http_add(&h, "mcp-session-id:", c->opened_session);
	if (length < 0 || c->ending)
		http_add(&h, "connection:", "close");
	if (length >= 0 &&
			lws_api.add_http_header_content_length(
					c->wsi, (lws_filepos_t)length, &h.p, h.end))
		return -1;
	if (h.failed || lws_api.finalize_http_header(c->wsi, &h.p, h.end))
		return -1;
	c->headed = true;
	return lws_api.write(c->wsi, head + LWS_PRE, (size_t)(h.p - head - LWS_PRE),
			       LWS_WRITE_HTTP_HEADERS) < 0
			? -1
			: 0;
}

/* Sends bytes of the body. They are copied. */
static int http_send(struct connection *c, const char *data, size_t n, bool last)
{
	static unsigned char chunk[LWS_PRE + HTTP_CHUNK_BYTES];

	memcpy(chunk + LWS_PRE, data, n);
	return lws_api.write(c->wsi, chunk + LWS_PRE, n,
			       last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0
			? -1
			: 0;
}

/* Drops what the client sent too early. If it stayed unread, the answer could be lost. */
static void http_drop_more(struct connection *c)
{
	static char dropped[MORE_BYTES];

	(void)recv(lws_api.get_socket_fd(c->wsi), dropped, sizeof(dropped), MSG_DONTWAIT);
}

static int http_finished(struct connection *c)
{
	c->sending = false;
	client_release(&c->client);
	c->has_client = false;
	if (c->more_ns)
		http_drop_more(c);
	if (c->streams || c->ending)
		return -1;
	c->unsure = !c->bodied;
	return lws_api.http_transaction_completed(c->wsi) ? -1 : 0;
}

/* Rewrites the answer to the client as a server-sent event, because this reply is a stream. */
static void http_make_event(struct connection *c)
{
	static const char before[] = "event: message\ndata: ";
	struct buf event = BUF_INIT(c->client.answer.cap + sizeof(before) + 2);

	buf_add_str(&event, before);
	buf_add(&event, buf_str(&c->client.answer), c->client.answer.len);
	buf_add_str(&event, "\n\n");
	buf_release(&c->client.answer);
	c->client.answer = event;
}

/*
 * Lets libwebsockets go through its buffer, so that it reports bytes behind the request. Without
 * such bytes the socket is not read until the answer is there. False: send the answer now.
 */
static bool http_rest(struct connection *c)
{
	if (!c->has_client || !c->taken || c->stopped)
		return true;
	if (c->turns++ == 0)
		lws_api.callback_on_writable(c->wsi);
	else if (c->sending)
		return false;
	else
		connection_stop(c);
	return true;
}

int http_writable(struct connection *c)
{
	struct buf *answer = &c->client.answer;
	size_t n;
	bool last;

	if (http_rest(c))
		return 0;
	lws_api.set_timeout(c->wsi, PENDING_TIMEOUT_HTTP_CONTENT, SEND_TIMEOUT_S);
	if (!c->headed) {
		if (http_send_head(c, c->client.status, c->mime, (int64_t)answer->len) < 0)
			return -1;
		if (!answer->len)
			return http_finished(c);
		lws_api.callback_on_writable(c->wsi);
		return 0;
	}
	if (c->streams && c->sent == 0)
		http_make_event(c);
	n = answer->len - c->sent;
	last = n <= HTTP_CHUNK_BYTES;
	n = last ? n : HTTP_CHUNK_BYTES;
	if (http_send(c, answer->data + c->sent, n, last) < 0)
		return -1;
	c->sent += n;
	if (last)
		return http_finished(c);
	lws_api.callback_on_writable(c->wsi);
	return 0;
}

void http_tick(struct connection *c, int64_t now_ns)
{
	static const char comment[] = ": the call is under way\n\n";

	if (!c->has_client || !c->client.busy || !c->takes_events || !c->route ||
			c->route->take != http_mcp || now_ns - c->asked_ns < STREAM_AFTER_NS ||
			lws_api.send_pipe_choked(c->wsi))
		return;
	if (!c->headed) {
		c->streams = true;
		if (http_send_head(c, 200, "text/event-stream", -1) < 0)
			return;
	}
	http_send(c, comment, sizeof(comment) - 1, false);
}

int http_refuse_upgrade(struct connection *c, int status)
{
	char text[256];

	c->net->host->metrics.refusals += status == 401 || status == 403;
	c->ending = true;
	*c->opened_session = '\0';
	snprintf(text, sizeof(text), "{\"detail\":\"%s\"}", http_detail(status));
	if (http_send_head(c, status, JSON, (int64_t)strlen(text)) == 0)
		http_send(c, text, strlen(text), true);
	return 1;
}
