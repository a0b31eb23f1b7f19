/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "../../tools/aci/aci.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/gateway.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The gateway's program, in a process of its own with this build's sanitizers. In use it is built
 * without them. A fault of its memory ends it with another status than 0.
 */
struct running {
	pid_t pid;
	int in, out; /* standard input and output of the program */
	int port;
};

/* Takes the next message, and returns its id. */
static uint32_t running_take(const struct running *g, struct buf *text)
{
	struct gateway_call_head head;
	char *bytes;

	assert_int_equal(fd_read_full(g->out, &head, sizeof(head)), sizeof(head));
	bytes = malloc(head.n + 1);
	assert_int_equal(fd_read_full(g->out, bytes, head.n), head.n);
	buf_clear(text);
	buf_add(text, bytes, head.n);
	free(bytes);
	return head.id;
}

static void running_answer(const struct running *g, uint32_t id, uint32_t status, const char *json)
{
	struct gateway_answer_head head = { id, status, (uint32_t)strlen(json) };

	assert_int_equal(fd_write_full(g->in, &head, sizeof(head)), 0);
	assert_int_equal(fd_write_full(g->in, json, head.n), 0);
}

static void running_start(struct running *g)
{
	auto_buf struct buf text = BUF_INIT(64);
	char name[] = GATEWAY_NAME, *argv[] = { name, NULL };
	int in[2], out[2];
	int64_t port;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	g->pid = fork();
	if (g->pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		_exit(aci_gateway.run(1, argv));
	}
	close(in[0]);
	close(out[1]);
	g->in = in[1];
	g->out = out[0];
	assert_int_equal(running_take(g, &text), 0);
	assert_true(str_to_i64(buf_str(&text), &port));
	g->port = (int)port;
}

static void running_stop(struct running *g)
{
	int status;

	close(g->in);
	assert_int_equal(waitpid(g->pid, &status, 0), g->pid);
	assert_int_equal(status, 0);
	close(g->out);
}

static int running_connect(const struct running *g)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)g->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void say(int fd, const char *text, size_t n)
{
	assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), n);
}

/* Reads until the text has come, or the connection has ended. */
static void hear(int fd, struct buf *out, const char *until)
{
	char piece[4096];
	ssize_t n;

	buf_clear(out);
	while (!strstr(buf_str(out), until) && (n = recv(fd, piece, sizeof(piece), 0)) > 0)
		buf_add(out, piece, (size_t)n);
}

/* --- tests ------------------------------------------------------------------------------------ */

#define HEAD                                                                                       \
	"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer key\r\n"
#define ANSWER "{\"id\": \"x\", \"choices\": [{\"message\": {\"content\": \"one\"}}]}"

static const struct {
	const char *request, *status;
} refused[] = {
	{ "nonsense\r\n\r\n", "400" },
	{ "GET / HTTP/1.1\r\n\r\n", "400" },
	{ HEAD "a b: c\r\n\r\n", "400" },
	{ HEAD "Content-Length: 99999999\r\n\r\n", "413" },
	{ HEAD "Transfer-Encoding: gzip\r\n\r\n", "501" },
	{ HEAD "Transfer-Encoding: chunked\r\n\r\nx\r\n", "400" },
	{ HEAD "Content-Length: 1\r\n\r\n[", "400" },
	{ "GET / HTTP/2.0\r\n\r\n", "505" },
	{ HEAD "Content-Encoding: gzip\r\n\r\n", "415" },
	{ HEAD "Authorization: Bearer other\r\n\r\n", "400" },
	{ HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\na b: trailer\r\n\r\n", "400" },
};

static void test_refusals(void **state)
{
	auto_buf struct buf heard = BUF_INIT(1 << 20);
	struct running g;

	running_start(&g);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		int fd = running_connect(&g);

		say(fd, refused[i].request, strlen(refused[i].request));
		hear(fd, &heard, "no such text");
		assert_has(buf_str(&heard), refused[i].status);
		close(fd);
	}
	running_stop(&g);
}

/* Refuses requests that are too large. The client sends all of them before it reads the answer,
 * which must not be lost. */
static void test_too_large(void **state)
{
	static const struct {
		const char *begin, *status;
		size_t n;
	} large[] = {
		{ HEAD "Content-Length: 99999999\r\n\r\n", "413", 99999999 },
		{ HEAD "Transfer-Encoding: chunked\r\n\r\n1100000\r\n", "413", 0x1100000 },
		{ HEAD "a: ", "431", 1 << 20 },
		{ "GET /", "414", 1 << 20 },
	};
	auto_buf struct buf heard = BUF_INIT(1 << 20);
	char piece[65536];
	struct running g;

	memset(piece, 'x', sizeof(piece));
	running_start(&g);
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		int fd = running_connect(&g);

		say(fd, large[i].begin, strlen(large[i].begin));
		for (size_t n = 0; n < large[i].n; n += sizeof(piece))
			say(fd, piece, sizeof(piece));
		hear(fd, &heard, "no such text");
		assert_has(buf_str(&heard), large[i].status);
		close(fd);
	}
	running_stop(&g);
}

/* A chunk as large as a body may be. */
static void test_large_chunk(void **state)
{
	auto_buf struct buf call = BUF_INIT(GATEWAY_CALL_MAX), heard = BUF_INIT(1 << 20);
	auto_buf struct buf request = BUF_INIT(GATEWAY_CALL_MAX);
	struct running g;
	uint32_t id;
	int fd;

	buf_printf(&request, HEAD "Transfer-Encoding: chunked\r\n\r\n%x\r\n{}%*s\r\n0\r\n\r\n",
			GATEWAY_BODY_MAX, GATEWAY_BODY_MAX - 2, "");
	running_start(&g);
	fd = running_connect(&g);
	say(fd, request.data, request.len);
	id = running_take(&g, &call);
	assert_true(call.len > GATEWAY_BODY_MAX);
	running_answer(&g, id, 200, ANSWER);
	hear(fd, &heard, "one");
	assert_has(buf_str(&heard), "200 OK");
	close(fd);
	running_stop(&g);
}

/* Sends a request in pieces of each length, and takes its answer as a stream. */
static void test_pieces_and_streams(void **state)
{
	static const char request[] = HEAD "Content-Length: 16\r\n\r\n{\"stream\": true}";
	auto_buf struct buf heard = BUF_INIT(1 << 20), call = BUF_INIT(1 << 20);
	struct running g;
	int fd;

	running_start(&g);
	fd = running_connect(&g);
	for (size_t piece = 1; piece < sizeof(request); piece += 13) {
		uint32_t id;

		for (size_t i = 0; i < sizeof(request) - 1; i += piece)
			say(fd, request + i,
					piece < sizeof(request) - 1 - i ? piece
									: sizeof(request) - 1 - i);
		id = running_take(&g, &call);
		assert_string_equal(buf_str(&call),
				"POST /v1/chat/completions\nkey\n{\"stream\": true}");
		running_answer(&g, id + 100, 200, ANSWER); /* no such call */
		running_answer(&g, id, 200, ANSWER);
		hear(fd, &heard, "[DONE]\n\n");
		assert_has(buf_str(&heard), "text/event-stream");
		assert_has(buf_str(&heard), "\"delta\":{\"content\":\"one\"}");
	}
	close(fd);
	running_stop(&g);
}

/* More clients than the gateway serves at a time, of which some go away. */
static void test_many_clients(void **state)
{
	static const char request[] = HEAD "Content-Length: 2\r\n\r\n{}";
	auto_buf struct buf call = BUF_INIT(1 << 20), heard = BUF_INIT(1 << 20);
	int fds[2 * GATEWAY_CALLS_MAX];
	size_t n_gone = 0, n_asked = 0;
	struct running g;

	running_start(&g);
	for (size_t i = 0; i < 2 * GATEWAY_CALLS_MAX; i++) {
		fds[i] = running_connect(&g);
		say(fds[i], request, sizeof(request) - 1);
	}
	for (; n_asked < GATEWAY_CALLS_MAX; n_asked++)
		assert_true(running_take(&g, &call) > 0);
	for (size_t i = 0; i < GATEWAY_CALLS_MAX; i++)
		close(fds[i]);
	/* Messages without bytes tell who has gone. The others get their places. */
	while (n_gone < GATEWAY_CALLS_MAX || n_asked < 2 * GATEWAY_CALLS_MAX) {
		uint32_t id = running_take(&g, &call);

		n_gone += !call.len;
		n_asked += call.len > 0;
		if (call.len)
			running_answer(&g, id, 403, "{\"error\": {}}");
	}
	for (size_t i = GATEWAY_CALLS_MAX; i < 2 * GATEWAY_CALLS_MAX; i++) {
		hear(fds[i], &heard, "{\"error\": {}}");
		assert_has(buf_str(&heard), "403 Forbidden");
		close(fds[i]);
	}
	running_stop(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_large_chunk),
		cmocka_unit_test(test_pieces_and_streams),
		cmocka_unit_test(test_many_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
