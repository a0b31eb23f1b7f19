/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/net.h"

#include "base/fd.h"
#include "base/scope.h"
#include "cli/interrupt.h"
#include "cmd/episode_options.h"
#include "cmd/log_options.h"
#include "serve/seat.h"
#include "serve/stdio_serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* fumehood serve: serves environments to many clients (src/serve). */

#define SERVE_TOKEN_BYTES_MAX 512
#define TOKEN_BYTES_MIN 8

struct serve_command {
	struct serve_options serve;
	struct net_options net;
	struct log_choice log;
	const char *listen, *token_file;
	bool no_token, stdio, drawn_token;
	int port;
};

/* Splits "ADDRESS:PORT", "ADDRESS", ":PORT" or "[ADDRESS]:PORT". */
static int serve_read_listen(
		struct command_context *ctx, struct serve_command *c, struct fh_error *err)
{
	const char *colon = strrchr(c->listen, ':');
	bool bracket = *c->listen == '[';
	struct in6_addr address;
	int64_t port = 8000;
	char *name;

	if (colon && bracket && colon[-1] != ']')
		colon = NULL;
	if (colon && (!str_to_i64(colon + 1, &port) || port < 0 || port > 65535))
		return error_say(err, EINVAL, "--listen: '%s' is not a port", colon + 1);
	name = colon ? arena_strndup(ctx->arena, c->listen, (size_t)(colon - c->listen))
		     : arena_strdup(ctx->arena, c->listen);
	if (bracket) {
		name[strcspn(name, "]")] = '\0';
		name++;
	}
	if (!*name || str_eq(name, "localhost"))
		name = arena_strdup(ctx->arena, "127.0.0.1");
	if (inet_pton(AF_INET, name, &address) != 1 && inet_pton(AF_INET6, name, &address) != 1)
		return error_say(err, EINVAL, "--listen: '%s' is not an address", name);
	c->net.address = name;
	c->net.port = (int)port;
	return 0;
}

/* Reads the token from a file, or from $FUMEHOOD_TOKEN, or draws one. */
static int serve_read_token(
		struct command_context *ctx, struct serve_command *c, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(SERVE_TOKEN_BYTES_MAX);
	const char *given = getenv("FUMEHOOD_TOKEN");
	char *token;
	int r;

	if (c->no_token)
		return 0;
	if (c->token_file) {
		r = fd_read_file(c->token_file, &text, err);
		if (r < 0)
			return error_wrap(err, "--token-file");
		given = buf_str(&text);
	}
	if (!given) {
		token = arena_alloc(ctx->arena, SEAT_ID_BYTES);
		seat_draw_id(token);
		c->net.guard.token = token;
		c->drawn_token = true;
		return 0;
	}
	token = arena_strdup(ctx->arena, given);
	token[strcspn(token, "\r\n")] = '\0';
	if (text.truncated || strlen(token) < TOKEN_BYTES_MIN)
		return error_say(err, EINVAL, "the token should have %d to %d bytes",
				TOKEN_BYTES_MIN, SERVE_TOKEN_BYTES_MAX);
	c->net.guard.token = token;
	return 0;
}

static void serve_listening(void *user, int port)
{
	const struct serve_command *c = user;
	bool v6 = strchr(c->net.address, ':') != NULL;

	if (c->drawn_token)
		fprintf(stderr, "fumehood: the token of this server is %s\n", c->net.guard.token);
	printf("listening on http://%s%s%s:%d\n", v6 ? "[" : "", c->net.address, v6 ? "]" : "",
			port);
	fflush(stdout);
}

static int serve_main(struct command_context *ctx)
{
	struct serve_command *c = ctx->options;
	struct log_options log;
	struct fh_error err;
	struct host host;
	int r;

	if (!c->serve.tasks.n)
		return cmd_misuse(
				ctx, "--task is missing; `fumehood task list` shows what there is");
	if (log_options_read(ctx, &c->log, LOG_WARN, &log, &err) < 0)
		return cmd_refuse(&err);
	log_setup(&log);
	if (!c->stdio &&
			(serve_read_listen(ctx, c, &err) < 0 || serve_read_token(ctx, c, &err) < 0))
		return cmd_refuse(&err);
	if (interrupt_setup(&err) < 0)
		return cmd_fail(&err);
	c->serve.stop_fd = interrupt_fd();
	c->serve.warner = &cmd_warner;
	c->net.listening = serve_listening;
	c->net.user = c;
	if (host_open(&host, &c->serve, &err) < 0) {
		host_close(&host);
		return cmd_refuse(&err);
	}
	r = c->stdio ? stdio_serve(&host, STDIN_FILENO, STDOUT_FILENO, &err)
		     : net_serve(&host, &c->net, &err);
	if (r < 0)
		cmd_fail(&err);
	if (host.openings.n)
		interrupt_leave(r < 0 ? CMD_FAILED : CMD_OK);
	host_close(&host);
	return r < 0 ? CMD_FAILED : CMD_OK;
}

#define FIELD(f) offsetof(struct serve_command, f)

static const struct cmd_option options[] = {
	{ "listen", 0, OPTION_TEXT, FIELD(listen), "ADDRESS:PORT",
			"address to listen on; port 0 takes a free one", "127.0.0.1:8000",
			.heading = "Server", .not_with = "stdio" },
	{ "token-file", 0, OPTION_PATH, FIELD(token_file), "FILE",
			"file whose first line is the token that clients must show (default: "
			"$FUMEHOOD_TOKEN, or a new one, which is printed)",
			.not_with = "stdio" },
	{ "no-token", 0, OPTION_FLAG, FIELD(no_token), .help = "serve clients without a token",
			.not_with = "token-file" },
	{ "allow-host", 0, OPTION_LIST, FIELD(net.guard.hosts), "NAME,...",
			"names of this server, beside addresses and localhost",
			.not_with = "stdio" },
	{ "allow-origin", 0, OPTION_LIST, FIELD(net.guard.origins), "ORIGIN,...",
			"origins of web pages that may use the server, like https://a.example",
			.not_with = "stdio" },
	{ "stdio", 0, OPTION_FLAG, FIELD(stdio),
			.help = "serve one client of MCP over standard input and output" },
	{ "max-sessions", 0, OPTION_INT, FIELD(serve.max_sessions), "N",
			"most sessions at the same time", "64", .min = 1, .max = 100000 },
	{ "idle-timeout", 0, OPTION_SECONDS, FIELD(serve.idle_s), "T",
			"close sessions that ask for nothing for this time", "30m" },
	{ "drain", 0, OPTION_SECONDS, FIELD(serve.drain_s), "T",
			"most time that running steps get when the server ends", "10s" },
	{ "task", 0, OPTION_LIST, FIELD(serve.tasks), "T[:V],...",
			"tasks that clients may play; the first is the default",
			.heading = "Episodes" },
	EPISODE_OPTIONS(FIELD(serve.episode)),
	{ "out", 0, OPTION_PATH, FIELD(serve.out), "DIR",
			"record each episode in a folder beneath DIR", .heading = "Record" },
	{ "suffix", 0, OPTION_TEXT, FIELD(serve.suffix), "TEXT", "end of the folders' names",
			.needs = "out" },
	LOG_OPTIONS(FIELD(log)),
	{},
};

const struct command command_serve = {
	.name = "serve",
	.summary = "serve environments to many clients, by OpenEnv's protocol and MCP",
	.about = "Serves OpenEnv's HTTP and WebSocket protocol, the Model Context Protocol (MCP) on "
		 "/mcp, and metrics for Prometheus on /metrics. Each WebSocket plays an episode of "
		 "its own.\n"
		 "Clients show the token as `Authorization: Bearer TOKEN`, or as the password in the "
		 "URL.\n"
		 "The signals INT, TERM, HUP and QUIT end the server. It waits for running steps, and ends "
		 "all records. docs/serve.md has the details.",
	.options = options,
	.options_size = sizeof(struct serve_command),
	.examples = "fumehood serve --task titanicSurvival:micro\n"
		    "fumehood serve --task titanicSurvival:micro --stdio   # for an agent that starts it\n"
		    "fumehood serve --task titanicSurvival,battleOfSexes --max-sessions 200 --out runs",
	.run = serve_main,
};
