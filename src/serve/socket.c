/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/socket.h"

#include "base/clock.h"
#include "base/query.h"
#include "base/scope.h"
#include "base/str.h"
#include "serve/mcp.h"
#include "serve/openenv.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

/* WebSockets of clients. serve/frames.c tells why libwebsockets does not read them. */

#define PING_AFTER_NS (30 * NS_PER_S)
#define GONE_AFTER_NS (60 * NS_PER_S) /* a client that sends nothing for this long is gone */

/* --- the handshake ---------------------------------------------------------------------------- */

#define KEY_BYTES 24 /* 16 bytes in base64 */
#define SHA1_BYTES 20
#define ACCEPT_BYTES 32

int socket_check(const struct connection *c)
{
	static const char digits[] =
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *key = request_reader_header(&c->request, "sec-websocket-key");

	if (!str_eq(request_reader_header(&c->request, "sec-websocket-version"), "13"))
		return 426;
	return key && strspn(key, digits) == KEY_BYTES - 2 && str_eq(key + KEY_BYTES - 2, "==")
			? 0
			: 400;
}

/* Proves to the client that this server speaks its protocol. */
static int socket_send_handshake(struct connection *c)
{
	static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	auto_buf struct buf key = BUF_INIT(KEY_BYTES + sizeof(guid));
	auto_buf struct buf head = BUF_INIT(CONNECTION_HEAD_MAX);
	unsigned char hash[SHA1_BYTES];
	char accept[ACCEPT_BYTES];

	buf_printf(&key, "%s%s", request_reader_header(&c->request, "sec-websocket-key"), guid);
	lws_api.SHA1((const unsigned char *)key.data, key.len, hash);
	lws_api.b64_encode_string((const char *)hash, sizeof(hash), accept, sizeof(accept));
	buf_printf(&head,
			"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n"
			"connection: upgrade\r\nsec-websocket-accept: %s\r\n",
			accept);
	if (c->door == DOOR_MCP &&
			request_reader_lists(&c->request, "sec-websocket-protocol", "mcp"))
		buf_add_str(&head, "sec-websocket-protocol: mcp\r\n");
	buf_add_str(&head, "\r\n");
	return connection_send(c, head.data, head.len, NULL, 0);
}

/* --- sending ---------------------------------------------------------------------------------- */

static int socket_send_frame(struct connection *c, enum frame_opcode opcode, bool is_last,
		const char *data, size_t n)
{
	char head[FRAME_HEAD_MAX];
	size_t n_head = frame_put_head(head, opcode, is_last, n);

	return connection_send(c, head, n_head, data, n);
}

/* Sends the next bytes of the answer as a frame. */
static int socket_send(struct connection *c)
{
	const struct buf *answer = &c->client.answer;
	size_t left = answer->len - c->sent, from = c->sent;
	size_t n = left < CONNECTION_CHUNK_BYTES ? left : CONNECTION_CHUNK_BYTES;

	c->sent += n;
	return socket_send_frame(c, from ? FRAME_CONTINUATION : FRAME_TEXT, n == left,
			answer->data + from, n);
}

/* Closes the connection with a status, once all before has been sent. */
static int socket_close_now(struct connection *c, int status)
{
	const char bytes[] = { (char)(status >> 8), (char)status };

	socket_release(c);
	connection_end(c);
	return socket_send_frame(c, FRAME_CLOSE, true, bytes, sizeof(bytes));
}

/*
 * Sends a short answer at once if nothing else is to be done afterwards. Waiting until the socket
 * is writable would cost a look at all sockets. False: socket_writable() is to send the answer.
 */
static bool socket_send_now(struct connection *c)
{
	if (c->close_status || c->inbox.first || !c->client.answer.len ||
			c->client.answer.len > CONNECTION_CHUNK_BYTES ||
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

static void socket_open_client(struct connection *c)
{
	client_init(&c->client, &c->net->seats, socket_answered, c);
	c->has_client = true;
	client_begin(&c->client, c->door == DOOR_OPENENV ? CLIENT_MESSAGE : CLIENT_RPC);
	if (socket_attach(c)) {
		c->client.busy = false;
		return;
	}
	/* The refusal may have been sent already: have socket_writable() close the connection. */
	c->close_status = CLOSE_FULL;
	lws_api.callback_on_writable(c->wsi);
}

/* A name that is wrong or empty is the name of no session. */
static void socket_read_session_id(struct connection *c)
{
	int r = query_argument(
			c->request.query, "session_id=", c->session_id, sizeof(c->session_id));

	if (r < 0 || (r == 1 && !*c->session_id))
		memcpy(c->session_id, "?", sizeof("?"));
}

int socket_open(struct connection *c, enum connection_door door)
{
	auto_buf struct buf rest = c->in;
	int r;

	buf_init(&c->in, 0);
	c->door = door;
	c->heard_ns = clock_now_ns();
	frames_init(&c->frames, CLIENT_MESSAGE_BYTES_MAX);
	connection_set_timeout(c, 0);
	socket_read_session_id(c);
	r = socket_send_handshake(c);
	if (r < 0)
		return r;
	request_reader_release(&c->request);
	socket_open_client(c);
	return socket_received(c, buf_str(&rest), rest.len);
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
		inbox_message_free(m);
	}
	if (!c->inbox.first)
		connection_go_on(c);
}

static void socket_keep(struct connection *c, const char *text, size_t n)
{
	if (c->door == DOOR_MCP)
		mcp_keep(&c->client, &c->inbox, text, n);
	else
		inbox_add(&c->inbox, text, n, NULL);
	if (inbox_is_full(&c->inbox))
		connection_stop(c);
}

static void socket_message(struct connection *c, const char *text, size_t n)
{
	bool waits = c->client.busy || c->sending || c->inbox.first;

	if (c->close_status)
		return;
	if (waits)
		socket_keep(c, text, n);
	else
		socket_take(c, text, n);
}

/* Takes the message that has come whole. */
static int socket_take_text(struct connection *c)
{
	struct buf *text = &c->frames.text;

	socket_message(c, buf_str(text), text->len);
	/* Most messages are short: give back the memory of a long one. */
	if (text->size > CONNECTION_CHUNK_BYTES)
		buf_release(text);
	buf_clear(text);
	return c->close_status && !c->sending ? socket_close_now(c, c->close_status) : 0;
}

static int socket_take_event(struct connection *c, enum frames_event event)
{
	switch (event) {
	case FRAMES_TEXT:
		return socket_take_text(c);
	case FRAMES_PING:
		return socket_send_frame(
				c, FRAME_PONG, true, c->frames.control, c->frames.n_control);
	case FRAMES_CLOSE:
	case FRAMES_WRONG:
		return socket_close_now(c, c->frames.status);
	case FRAMES_PONG:
	case FRAMES_MORE:
		break;
	}
	return 0;
}

int socket_received(struct connection *c, const char *data, size_t n)
{
	enum frames_event event = FRAMES_PONG;

	c->heard_ns = clock_now_ns();
	c->pinged = false;
	while (event != FRAMES_MORE && !c->ended) {
		int r;

		event = frames_take(&c->frames, &data, &n);
		r = socket_take_event(c, event);
		if (r < 0)
			return r;
	}
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
		connection_set_timeout(c, CONNECTION_SEND_TIMEOUT_S);
		c->timed = true;
		lws_api.callback_on_writable(c->wsi);
		return 0;
	}
	if (c->timed)
		connection_set_timeout(c, 0);
	c->timed = false;
	if (c->sending) {
		c->sending = false;
		if (c->client.answer.size > CONNECTION_CHUNK_BYTES)
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

void socket_end(struct connection *c)
{
	if (!c->ended)
		socket_close_now(c, CLOSE_AWAY);
}

/* True if the client has closed its end. Needed while the socket is not read: no read returns 0. */
static bool socket_is_left(const struct connection *c)
{
	struct tcp_info info;
	socklen_t n = sizeof(info);

	return getsockopt(lws_api.get_socket_fd(c->wsi), IPPROTO_TCP, TCP_INFO, &info, &n) == 0 &&
			info.tcpi_state == TCP_CLOSE_WAIT;
}

/* Pings a client that is silent, and drops one that stays so or is gone. */
static void socket_look(struct connection *c, int64_t now_ns)
{
	if (c->stopped || c->sending)
		c->heard_ns = now_ns; /* pongs are not read now */
	if (c->stopped && socket_is_left(c))
		connection_set_timeout(c, LWS_TO_KILL_ASYNC);
	else if (c->heard_ns < now_ns - GONE_AFTER_NS)
		connection_set_timeout(c, LWS_TO_KILL_ASYNC);
	else if (c->heard_ns < now_ns - PING_AFTER_NS && !c->pinged)
		c->pinged = socket_send_frame(c, FRAME_PING, true, NULL, 0) == 0;
}

void socket_tick(struct connection *c, int64_t now_ns)
{
	double idle_s = c->net->host->options->idle_s;
	const struct seat *s = c->client.seat;

	if (c->ended)
		return;
	socket_look(c, now_ns);
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
	frames_release(&c->frames);
	if (!c->attached || !c->client.seat)
		return;
	c->client.seat->detached = true;
	c->client.seat->active_ns = clock_now_ns();
}
