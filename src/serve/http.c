/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/http.h"

#include "base/clock.h"
#include "base/http_phrase.h"
#include "base/query.h"
#include "base/scope.h"
#include "base/str.h"
#include "serve/mcp.h"
#include "serve/openenv.h"
#include "serve/socket.h"

#include <inttypes.h>
#include <string.h>

#define HTTP_REQUEST_TIMEOUT_S 20 /* for the headers of a request, and between pieces of its body */
#define KEEPALIVE_TIMEOUT_S 60
/* A call that takes longer is answered as a stream of events. Comments in the stream keep clients
 * from giving up: many wait 5 s for data. */
#define STREAM_AFTER_NS (2 * NS_PER_S)

#define JSON "application/json"

/* --- routes ----------------------------------------------------------------------------------- */

struct route {
	const char *path, *method;
	enum connection_door door; /* DOOR_HTTP, or the WebSocket that is asked for */
	bool open;                 /* needs no token */
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
	char id[EPISODE_ID_BYTES];
	int r = query_argument(c->request.query, "episode_id=", id, sizeof(id));

	/* No episode has an empty name. */
	openenv_get_state(&c->client, r == 1 ? id : r < 0 ? "" : NULL);
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
	const char *id = request_reader_header(&c->request, "mcp-session-id");

	*named = id;
	return id ? seats_find(&c->net->seats, id) : NULL;
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

static bool http_mcp_version_ok(struct connection *c)
{
	return mcp_check_version(
			&c->client, request_reader_header(&c->request, "mcp-protocol-version"));
}

static void http_mcp(struct connection *c, const char *body, size_t n)
{
	bool named, initializes = mcp_is("initialize", body, n);
	struct seat *s = http_find_session(c, &named);

	/* The version of an initialize is in its body, and may be unknown. */
	if (!initializes && !http_mcp_version_ok(c))
		return;
	if (named && !s) {
		client_begin(&c->client, CLIENT_RPC);
		mcp_refuse(&c->client, 404, "there is no such session");
		return;
	}
	if (s)
		client_use_seat(&c->client, s);
	else if (initializes && !http_begin_mcp(c))
		return;
	mcp_message(&c->client, body, n);
}

static void http_end_mcp(struct connection *c, const char *body, size_t n)
{
	bool named;
	struct seat *s = http_find_session(c, &named);

	if (!http_mcp_version_ok(c))
		return;
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
	{ "/health", "GET", DOOR_HTTP, true, http_health },
	{ "/metrics", "GET", DOOR_HTTP, false, http_metrics },
	{ "/metadata", "GET", DOOR_HTTP, false, http_metadata },
	{ "/schema", "GET", DOOR_HTTP, false, http_schema },
	{ "/openapi.json", "GET", DOOR_HTTP, false, http_openapi },
	{ "/state", "GET", DOOR_HTTP, false, http_state },
	{ "/reset", "POST", DOOR_HTTP, false, http_reset },
	{ "/step", "POST", DOOR_HTTP, false, http_step },
	{ "/ws", "GET", DOOR_OPENENV, false, NULL },
	{ "/mcp", "GET", DOOR_MCP, false, NULL },
	{ "/mcp", "POST", DOOR_HTTP, false, http_mcp },
	{ "/mcp", "DELETE", DOOR_HTTP, false, http_end_mcp },
};

/* --- checks ----------------------------------------------------------------------------------- */

static bool http_is_head(const struct connection *c)
{
	return c->request.method && str_eq(c->request.method, "HEAD");
}

static bool http_upgrades(const struct connection *c)
{
	return str_eq(c->request.method, "GET") &&
			request_reader_lists(&c->request, "connection", "upgrade") &&
			request_reader_lists(&c->request, "upgrade", "websocket");
}

/* Finds the request's route. Returns 0, or the status that refuses the request. */
static int http_find_route(struct connection *c)
{
	const char *method = http_is_head(c) ? "GET" : c->request.method;
	int refused = 404;

	c->route = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		const struct route *r = &routes[i];

		if (!str_eq(r->path, c->request.path))
			continue;
		if (str_eq(r->method, method) && (!r->door || http_upgrades(c))) {
			c->route = r;
			return 0;
		}
		refused = r->door ? 426 : 405;
	}
	return refused;
}

/* Returns 0, or the status that refuses the request. */
static int http_guard(struct connection *c)
{
	const struct guard_request q = {
		.host = request_reader_header(&c->request, "host"),
		.origin = request_reader_header(&c->request, "origin"),
		.authorization = request_reader_header(&c->request, "authorization"),
	};
	bool open = c->route && c->route->open;

	/* HTTP/1.0 has no Host. Browsers, whose requests could come from another site, send it. */
	if (open && !q.host && !q.origin)
		return 0;
	switch (open ? guard_check_place(&c->net->guard, &q) : guard_check(&c->net->guard, &q)) {
	case GUARD_OK:
		if (c->route && !open)
			connection_prove(c);
		return 0;
	case GUARD_WRONG_TOKEN:
		return 401;
	case GUARD_WRONG_HOST:
	case GUARD_WRONG_ORIGIN:
		return 403;
	}
	return 403;
}

/* Checks the head of a request. Returns 0, or the status that refuses the request. */
static int http_check(struct connection *c)
{
	static const char *const methods[] = { "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT",
		"OPTIONS", "TRACE", "PATCH", NULL };
	const struct request_reader *r = &c->request;
	int refused = http_find_route(c), guarded = http_guard(c);

	if (guarded) {
		c->net->host->metrics.refusals++;
		return guarded;
	}
	if (str_index(r->method, methods) < 0)
		return 501;
	if (refused)
		return refused;
	if (str_eq(r->method, "POST") && !r->has_length && !r->is_chunked)
		return 411;
	/* A client without a token could have the server keep bodies that nobody needs. */
	if (!str_eq(r->method, "POST") && (r->n_body || r->is_chunked))
		return 413;
	return c->route->door ? socket_check(c) : 0;
}

/* --- requests --------------------------------------------------------------------------------- */

static void http_answered(void *user)
{
	struct connection *c = user;

	c->sent = 0;
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
		{ 401, "a token is needed: Authorization: Bearer TOKEN" },
		{ 403, "this host or origin is not allowed" },
		{ 411, "Content-Length is missing" },
		{ 413, "the body is too large" },
		{ 414, "the path is too long" },
		{ 426, "this path is for WebSockets of version 13" },
		{ 431, "the headers are too long" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(details); i++)
		if (details[i].status == status)
			return details[i].detail;
	return http_phrase(status);
}

static void http_begin(struct connection *c)
{
	client_init(&c->client, &c->net->seats, http_answered, c);
	c->has_client = true;
	c->headed = c->streams = false;
	c->closes = c->request.closes;
	c->mime = JSON;
	*c->opened_session = '\0';
	c->asked_ns = clock_now_ns();
	c->net->host->metrics.requests++;
	connection_stop(c);
	/* The answer may take long. */
	connection_set_timeout(c, 0);
}

/* is_whole: the next bytes are another request. */
static void http_refuse(struct connection *c, int status, bool is_whole)
{
	http_begin(c);
	c->closes = c->closes || !is_whole;
	client_begin(&c->client, CLIENT_HTTP);
	buf_printf(&c->client.answer, "{\"detail\":\"%s\"}", http_detail(status));
	client_end(&c->client, status);
}

static int http_take(struct connection *c)
{
	if (c->route->door) {
		c->net->host->metrics.requests++;
		return socket_open(c, c->route->door);
	}
	http_begin(c);
	c->route->take(c, buf_str(&c->request.body), c->request.body.len);
	return 0;
}

/* Waits for the rest of a request. */
static int http_wait(struct connection *c)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

	if (c->request.has_head || !c->begun)
		connection_set_timeout(c, HTTP_REQUEST_TIMEOUT_S);
	c->begun = true;
	if (!c->request.has_head || !c->request.expects)
		return 0;
	c->request.expects = false;
	return connection_send(c, go_on, sizeof(go_on) - 1, NULL, 0);
}

static int http_go_on(struct connection *c)
{
	int status = request_reader_feed(&c->request, &c->in);
	bool is_whole = status == 1;

	if (c->request.has_head && !c->checked && status < 400) {
		int refused = http_check(c);

		c->checked = true;
		status = refused ? refused : status;
		is_whole = is_whole && refused != 411;
	}
	if (status == 0)
		return http_wait(c);
	if (status == 1)
		return http_take(c);
	http_refuse(c, status, is_whole);
	return 0;
}

int http_received(struct connection *c, const char *data, size_t n)
{
	buf_add(&c->in, data, n);
	if (c->in.truncated)
		return -1;
	return c->has_client ? 0 : http_go_on(c);
}

void http_prepare(struct connection *c)
{
	buf_init(&c->in, 2 * REQUEST_HEAD_MAX + CONNECTION_CHUNK_BYTES);
	request_reader_init(&c->request, CLIENT_MESSAGE_BYTES_MAX);
	c->begun = true;
	connection_set_timeout(c, HTTP_REQUEST_TIMEOUT_S);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Writes the lines that a status needs. */
static void http_put_status_lines(const struct connection *c, int status, struct buf *head)
{
	const char *before = "allow: ";

	if (status == 401)
		buf_add_str(head, "www-authenticate: Bearer\r\n");
	if (status == 426)
		buf_add_str(head, "upgrade: websocket\r\nsec-websocket-version: 13\r\n");
	if (status != 405)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (!str_eq(routes[i].path, c->request.path) || routes[i].door)
			continue;
		buf_printf(head, "%s%s", before, routes[i].method);
		before = ", ";
	}
	buf_add_str(head, "\r\n");
}

/* Writes the head of an answer. length < 0: the answer ends with the connection. */
static void http_put_head(const struct connection *c, int status, int64_t length, struct buf *head)
{
	buf_printf(head,
			"HTTP/1.1 %d %s\r\ncontent-type: %s\r\ncache-control: no-store\r\n"
			"x-content-type-options: nosniff\r\n",
			status, http_phrase(status), c->mime);
	http_put_status_lines(c, status, head);
	if (*c->opened_session)
		buf_printf(head, "mcp-session-id: %s\r\n", c->opened_session);
	if (length < 0 || c->closes)
		buf_add_str(head, "connection: close\r\n");
	if (length >= 0)
		buf_printf(head, "content-length: %" PRId64 "\r\n", length);
	buf_add_str(head, "\r\n");
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

/* Sends the next bytes of the answer, with its head before the first. */
static int http_send(struct connection *c)
{
	auto_buf struct buf head = BUF_INIT(CONNECTION_HEAD_MAX);
	const struct buf *answer = &c->client.answer;
	size_t n;

	if (c->streams && c->sent == 0)
		http_make_event(c);
	if (!c->headed)
		http_put_head(c, c->client.status, (int64_t)answer->len, &head);
	c->headed = true;
	if (http_is_head(c))
		c->sent = answer->len;
	n = answer->len - c->sent;
	n = n < CONNECTION_CHUNK_BYTES ? n : CONNECTION_CHUNK_BYTES;
	c->sent += n;
	return connection_send(c, buf_str(&head), head.len, buf_str(answer) + c->sent - n, n);
}

static int http_finish(struct connection *c)
{
	if (c->streams || c->closes) {
		connection_end(c);
		return 0;
	}
	client_release(&c->client);
	c->has_client = c->sending = c->checked = c->begun = false;
	request_reader_release(&c->request);
	request_reader_init(&c->request, CLIENT_MESSAGE_BYTES_MAX);
	connection_set_timeout(c, KEEPALIVE_TIMEOUT_S);
	connection_go_on(c);
	return c->in.len ? http_go_on(c) : 0;
}

int http_writable(struct connection *c)
{
	if (!c->sending)
		return 0;
	connection_set_timeout(c, CONNECTION_SEND_TIMEOUT_S);
	if (http_send(c) < 0)
		return -1;
	if (c->sent == c->client.answer.len)
		return http_finish(c);
	lws_api.callback_on_writable(c->wsi);
	return 0;
}

static bool http_takes_events(const struct connection *c)
{
	return request_reader_lists(&c->request, "accept", "text/event-stream");
}

void http_tick(struct connection *c, int64_t now_ns)
{
	static const char comment[] = ": the call is under way\n\n";
	auto_buf struct buf head = BUF_INIT(CONNECTION_HEAD_MAX);

	if (!c->has_client || !c->client.busy || !c->route || c->route->take != http_mcp ||
			!http_takes_events(c) || now_ns - c->asked_ns < STREAM_AFTER_NS ||
			lws_api.send_pipe_choked(c->wsi))
		return;
	if (!c->headed) {
		c->mime = "text/event-stream";
		http_put_head(c, 200, -1, &head);
	}
	c->streams = c->headed = true;
	connection_send(c, buf_str(&head), head.len, comment, sizeof(comment) - 1);
}
