/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "web/guard.h"
#include "serve/mcp.h"
#include "serve/openenv.h"

#include <string.h>

/*
 * Takes the input as a message of a WebSocket, as one of MCP, and as a body of HTTP. Each of them
 * gets one answer, which is JSON. The server is full, so that no episode begins. The lines of the
 * input are also headers that the guard checks.
 */
static int n_answers;

static void check(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static void answered(void *user)
{
	n_answers++;
}

static void check_answer(const struct client *c)
{
	auto_json json_t *answer = NULL;

	check(n_answers == 1 && !c->busy && !c->seat);
	n_answers = 0;
	/* A notification and a "close" get no answer. */
	if (c->answer.len)
		check(json_parse("answer", c->answer.data, c->answer.len, &answer, NULL) == 0);
	else
		check(c->closed || c->status == 202);
}

static void send_to(void (*take)(struct client *, const char *, size_t), struct seats *seats,
		const char *text, size_t n)
{
	struct client c;

	client_init(&c, seats, answered, NULL);
	c.must_own = true;
	take(&c, text, n);
	check_answer(&c);
	client_release(&c);
}

/* Checks headers that are lines of the input. */
static void check_headers(char *text)
{
	static const char *const names[] = { "lab.example" };
	const char *items[] = { names[0] };
	struct guard guard = { .token = "secret-token", .hosts = { items, 1 } };
	struct guard_request q = { 0 };
	char *rest = text;

	q.host = strsep(&rest, "\n");
	q.origin = rest ? strsep(&rest, "\n") : NULL;
	q.authorization = rest;
	if (guard_check(&guard, &q) == GUARD_OK)
		check(q.authorization && *q.host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct host_task task = { .spec = "rows", .description = "Count \"rows\"." };
	static const struct serve_options options = { .max_sessions = 1, .idle_s = 1 };
	struct host host = { .options = &options, .tasks = &task, .n_tasks = 1 };
	struct seats seats = { .host = &host, .draining = true };
	char *text = xcalloc(1, n + 1);

	if (n)
		memcpy(text, data, n);
	send_to(openenv_message, &seats, text, n);
	send_to(mcp_message, &seats, text, n);
	send_to(openenv_post_reset, &seats, text, n);
	send_to(openenv_post_step, &seats, text, n);
	mcp_is("notifications/cancelled", text, n);
	check_headers(text);
	free(text);
	return 0;
}
