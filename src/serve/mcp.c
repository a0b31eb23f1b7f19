/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/mcp.h"

#include "base/scope.h"
#include "base/str.h"
#include "fumehood-build.h"
#include "trajectory/info.h"

#include <errno.h>
#include <string.h>

enum rpc_code {
	RPC_PARSE = -32700,
	RPC_REQUEST = -32600,
	RPC_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_SERVER = -32000,
};

#define CANCELLED "notifications/cancelled"

#define HTTP_OK 200
#define HTTP_ACCEPTED 202

/* --- answers ---------------------------------------------------------------------------------- */

/* Begins an answer, up to its `id`. */
static struct pyjson_writer mcp_begin(struct client *c)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&c->answer, PYJSON_LINE);

	buf_clear(&c->answer);
	pyjson_put_object(&w, NULL);
	if (c->form == CLIENT_RPC_MESSAGE) {
		pyjson_put_text(&w, "type", "mcp");
		pyjson_put_object(&w, "data");
	}
	pyjson_put_text(&w, "jsonrpc", "2.0");
	if (c->rpc_id)
		pyjson_put_value(&w, "id", c->rpc_id);
	else
		pyjson_put_null(&w, "id");
	return w;
}

static void mcp_finish(struct client *c, struct pyjson_writer *w, int status)
{
	if (c->form == CLIENT_RPC_MESSAGE)
		pyjson_end_object(w);
	pyjson_end_object(w);
	client_end(c, status);
}

static void mcp_fail_with(struct client *c, int status, enum rpc_code code, const char *message)
{
	struct pyjson_writer w = mcp_begin(c);
	const struct seats *all = c->seats;

	pyjson_put_object(&w, "error");
	pyjson_put_i64(&w, "code", code);
	pyjson_put_text(&w, "message", message);
	if (code == RPC_SERVER) {
		pyjson_put_object(&w, "data");
		pyjson_put_i64(&w, "active_sessions", (int64_t)all->n);
		pyjson_put_i64(&w, "max_sessions", all->host->options->max_sessions);
		pyjson_end_object(&w);
	}
	pyjson_end_object(&w);
	mcp_finish(c, &w, status);
}

static void mcp_fail(struct client *c, enum rpc_code code, const char *message)
{
	mcp_fail_with(c, HTTP_OK, code, message);
}

void mcp_refuse(struct client *c, int status, const char *message)
{
	mcp_fail_with(c, status, RPC_REQUEST, message);
}

void mcp_refuse_full(struct client *c)
{
	mcp_fail(c, RPC_SERVER,
			c->seats->draining ? "the server is shutting down"
					   : "the server has no room for another session");
}

/* --- tools ------------------------------------------------------------------------------------ */

/* Writes the result of a tool as text for the agent. */
static void mcp_put_text(struct pyjson_writer *w, const char *text, bool is_error)
{
	pyjson_put_array(w, "content");
	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "type", "text");
	pyjson_put_text(w, "text", text);
	pyjson_end_object(w);
	pyjson_end_array(w);
	pyjson_put_bool(w, "isError", is_error);
}

/* Answers that a tool failed. The agent reads the message. */
static void mcp_tool_failed(struct client *c, const char *message)
{
	struct pyjson_writer w = mcp_begin(c);

	pyjson_put_object(&w, "result");
	mcp_put_text(&w, message, true);
	pyjson_end_object(&w);
	mcp_finish(c, &w, HTTP_OK);
}

/* A seat_done: answers with the observation. */
static void mcp_done(void *user, const struct seat *s, const struct seat_answer *answer)
{
	struct client *c = user;
	const struct fh_step *step = answer->step;
	struct pyjson_writer w;

	if (!step) {
		mcp_tool_failed(c, answer->message);
		return;
	}
	w = mcp_begin(c);
	pyjson_put_object(&w, "result");
	mcp_put_text(&w, step->observation, false);
	pyjson_put_object(&w, "structuredContent");
	pyjson_put_text(&w, "observation", step->observation);
	if (!answer->is_reset)
		pyjson_put_double(&w, "reward", step->reward);
	pyjson_put_bool(&w, "done", step->terminated || step->truncated);
	pyjson_put_text(&w, "episode_id", s->episode_id);
	info_put_info(&w, step);
	pyjson_end_object(&w);
	pyjson_end_object(&w);
	if (c->answer.truncated)
		mcp_tool_failed(c, "the answer is too large");
	else
		mcp_finish(c, &w, HTTP_OK);
}

/* A seat_done: begins the step for which an episode was begun. */
static void mcp_reset_done(void *user, const struct seat *s, const struct seat_answer *answer)
{
	struct client *c = user;

	if (answer->step)
		client_step(c, &c->action, mcp_done);
	else
		mcp_done(user, s, answer);
}

/* Runs a step. A session without an episode begins one first. */
static void mcp_step(struct client *c, const struct fh_action *action)
{
	if (c->seat->env) {
		client_step(c, action, mcp_done);
		return;
	}
	c->action = *action;
	client_reset(c, &(struct seat_reset){ 0 }, mcp_reset_done);
}

static void mcp_call_bash(struct client *c, const struct pyjson *arguments)
{
	struct fh_action action;
	struct fh_error err;
	const char *field;

	if (client_read_step(arguments, &action, &field, &err) < 0)
		mcp_fail(c, RPC_PARAMS, err.message);
	else
		mcp_step(c, &action);
}

static void mcp_call_validate(struct client *c, const struct pyjson *arguments)
{
	mcp_step(c, &FH_ACTION(.text = "validate"));
}

static void mcp_call_submit(struct client *c, const struct pyjson *arguments)
{
	mcp_step(c, &FH_ACTION(.text = "submit"));
}

static void mcp_call_new_episode(struct client *c, const struct pyjson *arguments)
{
	struct seat_reset reset;
	struct fh_error err;
	const char *field;

	if (client_read_reset(c, arguments, &reset, &field, &err) < 0)
		mcp_fail(c, RPC_PARAMS, err.message);
	else
		client_reset(c, &reset, mcp_done);
}

struct mcp_tool {
	const char *name, *description;
	const char *schema; /* JSON schema of the arguments */
	void (*call)(struct client *c, const struct pyjson *arguments);
};

#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"

static const struct mcp_tool tools[] = {
	{ "bash",
			"Run a command in the shell of the episode. The shell keeps its folder, "
			"variables and jobs between calls. The first call begins an episode.",
			"{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\","
			"\"description\":\"Shell command, or several lines of commands\"},"
			"\"timeout_s\":{\"type\":\"number\",\"minimum\":0.001,"
			"\"description\":\"Timeout in seconds; by default the task's\"}},"
			"\"required\":[\"command\"]}",
			mcp_call_bash },
	{ "validate", "Score the submission. The episode goes on.", NO_ARGUMENTS,
			mcp_call_validate },
	{ "submit", "Score the submission and end the episode.", NO_ARGUMENTS, mcp_call_submit },
	{ "new_episode",
			"Begin a new episode, and end the last one. The result describes the task.",
			"{\"type\":\"object\",\"properties\":{\"seed\":{\"type\":\"integer\",\"minimum\":0},"
			"\"task\":{\"type\":\"string\"},\"episode_id\":{\"type\":\"string\"}}}",
			mcp_call_new_episode },
};

/* --- methods ---------------------------------------------------------------------------------- */

static const char *const versions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05",
	NULL };

bool mcp_check_version(struct client *c, const char *version)
{
	if (!version || str_index(version, versions) >= 0)
		return true;
	client_begin(c, CLIENT_RPC);
	mcp_refuse(c, 400, "MCP-Protocol-Version names an unknown version");
	return false;
}

static void mcp_initialize(struct client *c, const struct pyjson *params)
{
	const char *asked = pyjson_text(pyjson_get(params, "protocolVersion"));
	const char *version = str_index(asked, versions) >= 0 ? asked : versions[0];
	struct pyjson_writer w = mcp_begin(c);

	pyjson_put_object(&w, "result");
	pyjson_put_text(&w, "protocolVersion", version);
	pyjson_put_written(&w, "capabilities", "{\"tools\":{\"listChanged\":false}}");
	pyjson_put_object(&w, "serverInfo");
	pyjson_put_text(&w, "name", "fumehood");
	pyjson_put_text(&w, "version", FUMEHOOD_VERSION);
	pyjson_end_object(&w);
	pyjson_put_text(&w, "instructions", c->seats->host->tasks->description);
	pyjson_end_object(&w);
	mcp_finish(c, &w, HTTP_OK);
}

static void mcp_ping(struct client *c, const struct pyjson *params)
{
	struct pyjson_writer w = mcp_begin(c);

	pyjson_put_written(&w, "result", "{}");
	mcp_finish(c, &w, HTTP_OK);
}

static void mcp_list_tools(struct client *c, const struct pyjson *params)
{
	struct pyjson_writer w = mcp_begin(c);

	pyjson_put_object(&w, "result");
	pyjson_put_array(&w, "tools");
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		pyjson_put_object(&w, NULL);
		pyjson_put_text(&w, "name", tools[i].name);
		pyjson_put_text(&w, "description", tools[i].description);
		pyjson_put_written(&w, "inputSchema", tools[i].schema);
		pyjson_end_object(&w);
	}
	pyjson_end_array(&w);
	pyjson_end_object(&w);
	mcp_finish(c, &w, HTTP_OK);
}

/* Finds the session of a tool's call: the client's own, or that of params.session_id. False: the
 * call is answered. */
static bool mcp_find_session(struct client *c, const struct pyjson *params)
{
	const char *id = pyjson_string(pyjson_get(params, "session_id"));
	struct seat *s = !c->seat && id ? seats_find(c->seats, id) : NULL;

	if (s)
		client_use_seat(c, s);
	if (!c->seat && c->must_own && !client_open_seat(c)) {
		mcp_refuse_full(c);
		return false;
	}
	if (!c->seat) {
		mcp_fail(c, RPC_PARAMS,
				id ? "there is no such session"
				   : "a tool needs a session: send initialize first");
		return false;
	}
	if (c->seat->phase == SEAT_IDLE)
		return true;
	mcp_tool_failed(c, "another request of the session is under way");
	return false;
}

static void mcp_call_tool(struct client *c, const struct pyjson *params)
{
	const char *name = pyjson_text(pyjson_get(params, "name"));
	const struct pyjson *arguments = pyjson_get(params, "arguments");

	if (arguments && arguments->kind != PYJSON_OBJECT && arguments->kind != PYJSON_NULL) {
		mcp_fail(c, RPC_PARAMS, "'arguments' should be an object");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		if (!str_eq(tools[i].name, name))
			continue;
		if (mcp_find_session(c, params))
			tools[i].call(c, arguments);
		return;
	}
	mcp_fail(c, RPC_PARAMS, "there is no such tool");
}

static void mcp_put_session(struct client *c, const char *id, bool closed)
{
	struct pyjson_writer w = mcp_begin(c);

	pyjson_put_object(&w, "result");
	pyjson_put_text(&w, "session_id", id);
	if (closed)
		pyjson_put_bool(&w, "closed", true);
	pyjson_end_object(&w);
	mcp_finish(c, &w, HTTP_OK);
}

static void mcp_create_session(struct client *c, const struct pyjson *params)
{
	struct seat *s = c->seat ? c->seat : seats_open(c->seats);

	if (!s) {
		mcp_refuse_full(c);
		return;
	}
	if (!c->seat)
		s->detached = true;
	mcp_put_session(c, s->id, false);
}

static void mcp_close_session(struct client *c, const struct pyjson *params)
{
	const char *id = pyjson_string(pyjson_get(params, "session_id"));
	struct seat *s = id ? seats_find(c->seats, id) : NULL;
	char closed[SEAT_ID_BYTES];

	if (!s) {
		mcp_fail(c, RPC_PARAMS,
				id ? "there is no such session" : "'session_id' is missing");
		return;
	}
	if (s == c->seat || !s->detached) {
		mcp_fail(c, RPC_REQUEST, "a connection uses the session: close the connection");
		return;
	}
	memcpy(closed, s->id, sizeof(closed));
	seats_close(c->seats, s);
	mcp_put_session(c, closed, true);
}

struct mcp_method {
	const char *name;
	void (*take)(struct client *c, const struct pyjson *params);
};

static const struct mcp_method methods[] = {
	{ "initialize", mcp_initialize },
	{ "ping", mcp_ping },
	{ "tools/list", mcp_list_tools },
	{ "tools/call", mcp_call_tool },
	{ "openenv/session/create", mcp_create_session },
	{ "openenv/session/close", mcp_close_session },
};

/* --- messages --------------------------------------------------------------------------------- */

/* A request without an id expects no answer. */
static void mcp_notified(struct client *c, const char *method, const struct pyjson *params)
{
	auto_free char *cancelled = client_call_id(pyjson_get(params, "requestId"));

	if (str_eq(method, CANCELLED) && cancelled)
		seat_cancel(c->seat, cancelled);
	buf_clear(&c->answer);
	client_end(c, HTTP_ACCEPTED);
}

static bool mcp_is_id(const struct pyjson *id)
{
	return id->kind == PYJSON_STRING || id->kind == PYJSON_NUMBER || id->kind == PYJSON_NULL;
}

void mcp_take(struct client *c, const struct pyjson *request)
{
	const struct pyjson *id = pyjson_get(request, "id");
	const struct pyjson *params = pyjson_get(request, "params");
	const char *method = pyjson_string(pyjson_get(request, "method"));

	if (id && mcp_is_id(id))
		c->rpc_id = id;
	if (request->kind != PYJSON_OBJECT || !method || (id && !mcp_is_id(id)) ||
			!str_eq(pyjson_text(pyjson_get(request, "jsonrpc")), "2.0")) {
		mcp_fail(c, RPC_REQUEST, "the text is not a request of JSON-RPC 2.0");
		return;
	}
	if (params && params->kind != PYJSON_OBJECT) {
		mcp_fail(c, RPC_PARAMS, "'params' should be an object");
		return;
	}
	if (!id && c->form == CLIENT_RPC) {
		mcp_notified(c, method, params);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		if (!str_eq(methods[i].name, method))
			continue;
		methods[i].take(c, params);
		return;
	}
	mcp_fail(c, RPC_METHOD, "there is no such method");
}

void mcp_message(struct client *c, const char *text, size_t n)
{
	struct pyjson_source source = { .name = "request", .data = text, .n = n };
	const struct pyjson *request;
	struct fh_error err;

	client_begin(c, CLIENT_RPC);
	if (pyjson_read(&c->arena, &source, &request, &err) < 0)
		mcp_fail(c, RPC_PARSE, err.message);
	else
		mcp_take(c, request);
}

void mcp_keep(struct client *c, struct inbox *inbox, const char *text, size_t n)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct pyjson_source source = { .name = "request", .data = text, .n = n };
	auto_free char *cancelled = NULL;
	const struct pyjson *request;

	if (pyjson_read(&arena, &source, &request, NULL) < 0) {
		inbox_add(inbox, text, n, NULL); /* the answer will be an error */
		return;
	}
	if (!str_eq(pyjson_text(pyjson_get(request, "method")), CANCELLED)) {
		inbox_add(inbox, text, n, client_call_id(pyjson_get(request, "id")));
		return;
	}
	cancelled = client_call_id(pyjson_get(pyjson_get(request, "params"), "requestId"));
	if (cancelled && !seat_cancel(c->seat, cancelled))
		inbox_drop(inbox, cancelled);
}

bool mcp_is(const char *method, const char *text, size_t n)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct pyjson_source source = { .name = "request", .data = text, .n = n };
	const struct pyjson *request;

	return pyjson_read(&arena, &source, &request, NULL) == 0 &&
			str_eq(pyjson_text(pyjson_get(request, "method")), method);
}
