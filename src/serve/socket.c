/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/socket.h"

#include "base/clock.h"
#include "base/scope.h"
#include "base/str.h"
#include "serve/http.h"
#include "serve/mcp.h"
#include "serve/openenv.h"

#include <stdio.h>
#include <string.h>

#define SOCKET_CHUNK_BYTES (32L << 10)
#define SEND_TIMEOUT_S 30 /* a client that takes no data for this long is gone */

#define CLOSE_NORMAL 1000
#define CLOSE_AWAY 1001
#define CLOSE_BINARY 1003
#define CLOSE_TOO_LARGE 1009
#define CLOSE_FULL 1013

/* --- the handshake ---------------------------------------------------------------------------- */

static bool socket_find_door(struct connection *c)
{
	char path[8];

	if (lws_api.hdr_copy(c->wsi, path, sizeof(path), WSI_TOKEN_GET_URI) <= 0)
		return false;
	if (str_eq(path, "/ws"))
		c->door = DOOR_OPENENV;
	else if (str_eq(path, "/mcp"))
		c->door = DOOR_MCP;
	return c->door != DOOR_HTTP;
}

int socket_confirm(struct connection *c, const char *to)
{
	struct guard_texts texts;
	char argument[URL_ARGUMENT_BYTES];
	const char *given;

	if (!str_eq(to, "websocket"))
		return http_refuse_upgrade(c, 400);
	switch (connection_guard(c, &texts, true)) {
	case GUARD_OK:
		break;
	case GUARD_WRONG_TOKEN:
		return http_refuse_upgrade(c, 401);
	case GUARD_WRONG_HOST:
	case GUARD_WRONG_ORIGIN:
		return http_refuse_upgrade(c, 403);
	}
	if (!socket_find_door(c))
		return http_refuse_upgrade(c, 404);
	connection_prove(c);
	given = lws_api.get_urlarg_by_name(c->wsi, "session_id=", argument, sizeof(argument));
	if (given)
		snprintf(c->session_id, sizeof(c->session_id), "%s", *given ? given : "?");
	return 0;
}

/* --- sending ---------------------------------------------------------------------------------- */

static int socket_send(struct connection *c)
{
	static unsigned char chunk[LWS_PRE + SOCKET_CHUNK_BYTES];
	const struct buf *answer = &c->client.answer;
	size_t left = answer->len - c->sent;
	size_t n = left < SOCKET_CHUNK_BYTES ? left : SOCKET_CHUNK_BYTES;
	int flags = lws_write_ws_flags(LWS_WRITE_TEXT, c->sent == 0, n == left);

	memcpy(chunk + LWS_PRE, answer->data + c->sent, n);
	if (lws_api.write(c->wsi, chunk + LWS_PRE, n, (enum lws_write_protocol)flags) < 0)
		return -1;
	c->sent += n;
	return 0;
}

/*
 * Sends a short answer at once if nothing else is to be done afterwards. Waiting until the socket
 * is writable would cost a look at all sockets. False: socket_writable() is to send the answer.
 */
static bool socket_send_now(struct connection *c)
{
	if (c->close_status || c->inbox.first || !c->client.answer.len ||
			c->client.answer.len > SOCKET_CHUNK_BYTES ||
			lws_api.send_pipe_choked(c->wsi))
		return false;
	if (socket_send(c) == 0)
		return true;
	c->close_status = CLOSE_NORMAL;
	c->client.answer.len = 0;
	return false;
}

static void socket_answered(void *user)
{
	struct connection *c = user;

	c->sent = 0;
	c->sending = c->client.closed || !socket_send_now(c);
	if (c->sending)
		lws_api.callback_on_writable(c->wsi);
}

/* --- sessions --------------------------------------------------------------------------------- */

/* Gives the client its session. False: it was told why it gets none. */
static bool socket_attach(struct connection *c)
{
	struct seats *all = &c->net->seats;
	struct seat *s;

	if (!*c->session_id) {
		if (client_open_seat(&c->client))
			return true;
		if (c->door == DOOR_OPENENV)
			openenv_refuse_full(&c->client);
		else
			mcp_refuse_full(&c->client);
		return false;
	}
	s = seats_find(all, c->session_id);
	if (s && s->detached) {
		s->detached = false;
		c->attached = true;
		client_use_seat(&c->client, s);
		return true;
	}
	if (c->door == DOOR_OPENENV)
		openenv_refuse(&c->client, "SESSION_ERROR",
				s ? "another connection uses the session" : "no such session");
	else
		mcp_refuse(&c->client, 200,
				s ? "another connection uses the session" : "no such session");
	return false;
}

int socket_opened(struct connection *c)
{
	client_init(&c->client, &c->net->seats, socket_answered, c);
	c->has_client = true;
	client_begin(&c->client, c->door == DOOR_OPENENV ? CLIENT_MESSAGE : CLIENT_RPC);
	if (socket_attach(c)) {
		c->client.busy = false;
		return 0;
	}
	/* The refusal may have been sent already: have socket_writable() close the connection. */
	c->close_status = CLOSE_FULL;
	lws_api.callback_on_writable(c->wsi);
	return 0;
}

/* --- messages --------------------------------------------------------------------------------- */

static void socket_take(struct connection *c, const char *text, size_t n)
{
	if (c->door == DOOR_OPENENV)
		openenv_message(&c->client, text, n);
	else
		mcp_message(&c->client, text, n);
	if (c->client.closed)
		c->close_status = CLOSE_NORMAL;
}

/* Takes waiting messages until one has an answer that is still to come or to be sent. */
static void socket_go_on(struct connection *c)
{
	while (c->inbox.first && !c->client.busy && !c->sending && !c->close_status) {
		struct inbox_message *m = inbox_take(&c->inbox);

		socket_take(c, m->text, m->n);
		free(m);
	}
	if (!c->inbox.first)
		connection_go_on(c);
}

static void socket_keep(struct connection *c, const char *text, size_t n)
{
	inbox_add(&c->inbox, text, n);
	if (inbox_is_full(&c->inbox))
		connection_stop(c);
}

static void socket_message(struct connection *c, const char *text, size_t n)
{
	bool waits = c->client.busy || c->sending || c->inbox.first;

	if (c->close_status)
		return;
	/* A cancellation is about the call under way: it can't wait for the call's end. */
	if (waits && c->door == DOOR_MCP && mcp_is("notifications/cancelled", text, n))
		seat_interrupt(c->client.seat);
	else if (waits)
		socket_keep(c, text, n);
	else
		socket_take(c, text, n);
}

static int socket_close_now(struct connection *c, int status)
{
	lws_api.close_reason(c->wsi, (enum lws_close_status)status, NULL, 0);
	return -1;
}

int socket_received(struct connection *c, const char *data, size_t n)
{
	if (lws_api.frame_is_binary(c->wsi))
		return socket_close_now(c, CLOSE_BINARY);
	buf_add(&c->in, data, n);
	if (c->in.truncated)
		return socket_close_now(c, CLOSE_TOO_LARGE);
	if (!lws_api.is_final_fragment(c->wsi) || lws_api.remaining_packet_payload(c->wsi))
		return 0;
	socket_message(c, buf_str(&c->in), c->in.len);
	/* Most messages are short: give back the memory of a long one. */
	if (c->in.size > SOCKET_CHUNK_BYTES)
		free(buf_take(&c->in));
	buf_clear(&c->in);
	if (c->close_status && !c->sending)
		return socket_close_now(c, c->close_status);
	return 0;
}

/* --- answers ---------------------------------------------------------------------------------- */

int socket_writable(struct connection *c)
{
	if (c->sending && c->sent < c->client.answer.len) {
		if (socket_send(c) < 0)
			return -1;
		/* libwebsockets calls this function again once the socket takes more bytes. If it
		 * does not within the timeout, the client is gone, and the connection is closed. */
		lws_api.set_timeout(c->wsi, PENDING_TIMEOUT_USER_OK, SEND_TIMEOUT_S);
		c->timed = true;
		lws_api.callback_on_writable(c->wsi);
		return 0;
	}
	if (c->timed)
		lws_api.set_timeout(c->wsi, NO_PENDING_TIMEOUT, 0);
	c->timed = false;
	if (c->sending) {
		c->sending = false;
		if (c->client.answer.size > SOCKET_CHUNK_BYTES)
			free(buf_take(&c->client.answer));
	}
	socket_go_on(c);
	if (c->close_status && !c->sending && !c->client.busy)
		return socket_close_now(c, c->close_status);
	return 0;
}

void socket_drain(struct connection *c)
{
	if (!c->close_status)
		c->close_status = CLOSE_AWAY;
	if (!c->client.busy)
		lws_api.callback_on_writable(c->wsi);
}

void socket_tick(struct connection *c, int64_t now_ns)
{
	double idle_s = c->net->host->options->idle_s;
	const struct seat *s = c->client.seat;

	if (c->stopped)
		lws_api.validity_confirmed(c->wsi); /* the client's pongs are not read */
	if (!s || c->client.busy || c->sending || c->close_status ||
			s->active_ns > now_ns - (int64_t)(idle_s * (double)NS_PER_S))
		return;
	c->net->host->metrics.sessions_reaped++;
	if (c->door == DOOR_OPENENV) {
		client_begin(&c->client, CLIENT_MESSAGE);
		openenv_refuse(&c->client, "SESSION_ERROR", "the session was idle for too long");
	}
	socket_drain(c);
}

void socket_release(struct connection *c)
{
	inbox_release(&c->inbox);
	if (!c->attached || !c->client.seat)
		return;
	c->client.seat->detached = true;
	c->client.seat->active_ns = clock_now_ns();
}
