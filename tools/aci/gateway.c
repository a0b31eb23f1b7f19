/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"

#include "base/fd.h"
#include "base/http_phrase.h"
#include "base/json.h"
#include "base/request_reader.h"
#include "base/scope.h"
#include "base/str.h"
#include "gateway_stream.h"
#include "inside/gateway.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * The gateway: an HTTP server on the loopback device of a sandbox, for an agent that calls a
 * language model. It reads requests, prints the calls for the environment outside, and gives the
 * answers back (inside/gateway.h). All that an agent can send malformed is read here, inside the
 * sandbox. The environment starts it as root of the sandbox, so that the agent can't change it.
 *
 * A connection has one request at a time. A client that asked for a stream gets the answer as one,
 * when it is complete.
 */

#define GATEWAY_PIECE_BYTES 65536
/* most bytes of an answer to an HTTP client: a stream of events repeats some members */
#define ANSWER_HEAD_MAX 1024
#define OUT_BYTES_MAX (2 * GATEWAY_ANSWER_MAX + 65536)

struct caller {
	int fd;      /* -1: this entry is free */
	uint32_t id; /* number of the call that the client waits for; 0: none */
	bool streams, wants_usage, is_anthropic, closes;
	/* The last answer was sent. Further bytes are read and dropped. Left unread, they could
	 * make the answer be lost. */
	bool lingers;
	struct request_reader request;
	struct buf in, out;
	size_t n_sent; /* bytes of `out` that were sent */
};

struct gateway_server {
	int listener;
	uint32_t last_id;
	struct caller clients[GATEWAY_CALLS_MAX];
	struct buf answers; /* bytes from the environment that were not handled yet */
};

/* Prints a message for the environment. Without the environment the gateway has no use. */
static void gateway_tell(uint32_t id, const struct buf *text)
{
	struct gateway_call_head head = { .id = id, .n = (uint32_t)text->len };

	if (fd_write_full(STDOUT_FILENO, &head, sizeof(head)) < 0 ||
			fd_write_full(STDOUT_FILENO, buf_str(text), text->len) < 0)
		_exit(1);
}

/* --- answers to clients ----------------------------------------------------------------------- */

static void caller_close(struct caller *c)
{
	struct buf none = BUF_INIT(0);

	if (c->id)
		gateway_tell(c->id, &none);
	close_fd(&c->fd);
	c->id = 0;
	c->n_sent = 0;
	request_reader_release(&c->request);
	buf_release(&c->in);
	buf_release(&c->out);
}

static void caller_say(struct caller *c, int status, const char *type, const struct buf *body)
{
	buf_printf(&c->out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n",
			status, http_phrase(status), type, body->len,
			c->closes ? "Connection: close\r\n" : "");
	buf_add(&c->out, buf_str(body), body->len);
	request_reader_release(&c->request);
	request_reader_init(&c->request, GATEWAY_BODY_MAX);
}

/* Refuses what can't be read as a request. The connection ends, because its next bytes may belong
 * to the same request. */
static void caller_refuse(struct caller *c, int status)
{
	auto_buf struct buf body = BUF_INIT(256);

	buf_printf(&body, "{\"error\": {\"message\": \"%s\", \"type\": \"invalid_request_error\"}}",
			http_phrase(status));
	c->closes = true;
	buf_clear(&c->in);
	caller_say(c, status, "application/json", &body);
}

static void caller_answer(struct caller *c, int status, const char *text, size_t n)
{
	auto_buf struct buf body = BUF_INIT(OUT_BYTES_MAX);
	auto_json json_t *answer = NULL;
	bool streams = c->streams && status == 200 &&
			json_parse("answer", text, n, &answer, NULL) == 0;

	c->id = 0;
	if (!streams)
		buf_add(&body, text, n);
	else if (c->is_anthropic)
		gateway_stream_anthropic(&body, answer);
	else
		gateway_stream_openai(&body, answer, c->wants_usage);
	caller_say(c, status, streams ? "text/event-stream" : "application/json", &body);
}

static void caller_send(struct caller *c)
{
	ssize_t n = send(c->fd, c->out.data + c->n_sent, c->out.len - c->n_sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		caller_close(c);
		return;
	}
	c->n_sent += n > 0 ? (size_t)n : 0;
	if (c->n_sent < c->out.len)
		return;
	c->n_sent = 0;
	buf_release(&c->out);
	if (c->closes) {
		c->lingers = true;
		shutdown(c->fd, SHUT_WR);
	}
}

/* --- requests --------------------------------------------------------------------------------- */

/* Reads from a request's body how its answer is wanted. False: the body is not a JSON object. */
static bool caller_read_wish(struct caller *c)
{
	const struct buf *body = &c->request.body;
	auto_json json_t *root = NULL;
	const json_t *options;

	c->is_anthropic = str_starts(c->request.path, "/v1/messages");
	c->streams = c->wants_usage = false;
	if (!body->len)
		return true;
	if (json_parse("request", buf_str(body), body->len, &root, NULL) < 0 ||
			!json_is_object(root))
		return false;
	options = json_object_get(root, "stream_options");
	c->streams = json_is_true(json_object_get(root, "stream"));
	c->wants_usage = json_is_true(json_object_get(options, "include_usage"));
	return true;
}

/* Writes "METHOD PATH\nKEY\n". Returns 0, or the status of a refusal. */
static int caller_put_head(const struct request_reader *r, struct buf *out)
{
	const char *key = request_reader_header(r, "x-api-key");
	const char *bearer = request_reader_header(r, "authorization");

	if (!key && bearer && strncasecmp(bearer, "Bearer ", 7) == 0)
		key = bearer + 7;
	if (strlen(r->method) + 1 + strlen(r->path) >= GATEWAY_LINE_MAX)
		return 414;
	if (key && strlen(key) >= GATEWAY_LINE_MAX)
		return 431;
	buf_printf(out, "%s %s\n%s\n", r->method, r->path, key ? key : "");
	return 0;
}

static void caller_call(struct gateway_server *g, struct caller *c)
{
	auto_buf struct buf text = BUF_INIT(GATEWAY_CALL_MAX);
	struct request_reader *r = &c->request;
	int status = caller_put_head(r, &text);

	c->closes = c->closes || r->closes;
	if (!status && !caller_read_wish(c))
		status = 400;
	if (status) {
		caller_refuse(c, status);
		return;
	}
	if (++g->last_id == 0)
		g->last_id = 1;
	c->id = g->last_id;
	buf_add(&text, buf_str(&r->body), r->body.len);
	gateway_tell(c->id, &text);
	buf_release(&r->body);
}

/* Goes on with the bytes that have come. A client may send the next request before the answer. */
static void caller_advance(struct gateway_server *g, struct caller *c)
{
	int status;

	if (c->id || c->out.len || c->lingers)
		return;
	status = request_reader_feed(&c->request, &c->in);
	if (status == 1)
		caller_call(g, c);
	else if (status)
		caller_refuse(c, status);
	else if (c->request.expects && c->request.has_head) {
		c->request.expects = false;
		buf_add_str(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
	}
}

static void caller_receive(struct gateway_server *g, struct caller *c)
{
	static char piece[GATEWAY_PIECE_BYTES];
	ssize_t n = recv(c->fd, piece, sizeof(piece), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && !c->lingers)
		buf_add(&c->in, piece, (size_t)n);
	if (n <= 0 || c->in.truncated)
		caller_close(c);
	else
		caller_advance(g, c);
}

/* Finds an entry for a new client. The clients of lingering connections have had their answers.
 * NULL: all entries are in use. */
static struct caller *gateway_find_place(struct gateway_server *g)
{
	struct caller *lingering = NULL;

	for (size_t i = 0; i < GATEWAY_CALLS_MAX; i++) {
		if (g->clients[i].fd < 0)
			return &g->clients[i];
		if (g->clients[i].lingers)
			lingering = &g->clients[i];
	}
	return lingering;
}

static void gateway_accept(struct gateway_server *g)
{
	struct caller *c = gateway_find_place(g);
	int fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	caller_close(c);
	*c = (struct caller){ .fd = fd,
		.in = BUF_INIT(REQUEST_HEAD_MAX + GATEWAY_PIECE_BYTES),
		.out = BUF_INIT(OUT_BYTES_MAX + ANSWER_HEAD_MAX) };
	request_reader_init(&c->request, GATEWAY_BODY_MAX);
}

/* --- the environment -------------------------------------------------------------------------- */

/* Handles the next answer that has come whole. False: there is none. */
static bool gateway_take_answer(struct gateway_server *g)
{
	struct gateway_answer_head head;

	if (g->answers.len < sizeof(head))
		return false;
	memcpy(&head, g->answers.data, sizeof(head));
	if (g->answers.len - sizeof(head) < head.n)
		return false;
	for (size_t i = 0; i < GATEWAY_CALLS_MAX; i++)
		if (g->clients[i].fd >= 0 && g->clients[i].id == head.id)
			caller_answer(&g->clients[i], (int)head.status,
					g->answers.data + sizeof(head), head.n);
	buf_consume(&g->answers, sizeof(head) + head.n);
	return true;
}

static void gateway_listen_to_owner(struct gateway_server *g)
{
	static char piece[GATEWAY_PIECE_BYTES];
	ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));

	if (n == 0 || (n < 0 && errno != EINTR))
		_exit(0);
	buf_add(&g->answers, piece, n > 0 ? (size_t)n : 0);
	while (gateway_take_answer(g))
		;
	for (size_t i = 0; i < GATEWAY_CALLS_MAX; i++)
		if (g->clients[i].fd >= 0)
			caller_advance(g, &g->clients[i]);
}

/* Polls once. While all entries are taken, further clients wait in the listener's queue. */
static void gateway_turn(struct gateway_server *g)
{
	struct pollfd fds[2 + GATEWAY_CALLS_MAX];

	for (size_t i = 0; i < GATEWAY_CALLS_MAX; i++) {
		const struct caller *c = &g->clients[i];
		short events = c->out.len ? POLLOUT : c->in.len < REQUEST_HEAD_MAX ? POLLIN : 0;

		fds[2 + i] = (struct pollfd){ .fd = c->fd, .events = events };
	}
	fds[0] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = gateway_find_place(g) ? g->listener : -1,
		.events = POLLIN };
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) <= 0)
		return;
	for (size_t i = 0; i < GATEWAY_CALLS_MAX; i++) {
		struct caller *c = &g->clients[i];

		if (c->fd < 0 || !fds[2 + i].revents)
			continue;
		if (c->out.len)
			caller_send(c);
		else
			caller_receive(g, c);
		if (c->fd >= 0)
			caller_advance(g, c);
	}
	if (fds[0].revents)
		gateway_listen_to_owner(g);
	if (fds[1].revents)
		gateway_accept(g);
}

static int gateway_open(struct gateway_server *g)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	auto_buf struct buf text = BUF_INIT(16);
	socklen_t size = sizeof(at);

	g->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (g->listener < 0 || bind(g->listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
			listen(g->listener, SOMAXCONN) < 0 ||
			getsockname(g->listener, (struct sockaddr *)&at, &size) < 0)
		return -errno;
	buf_printf(&text, "%d", ntohs(at.sin_port));
	gateway_tell(0, &text);
	return 0;
}

static int gateway_run(int argc, char **argv)
{
	static struct gateway_server g = { .answers = BUF_INIT(GATEWAY_ANSWER_MAX +
							   GATEWAY_PIECE_BYTES) };

	for (size_t i = 0; i < GATEWAY_CALLS_MAX; i++)
		g.clients[i].fd = -1;
	if (gateway_open(&g) < 0)
		return 1;
	for (;;)
		gateway_turn(&g);
}

const struct aci_command aci_gateway = { GATEWAY_NAME,
	"gateway: forwards calls of a language model; the environment starts it", gateway_run };
