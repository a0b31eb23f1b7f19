/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/openenv.h"

#include "base/scope.h"
#include "base/str.h"
#include "serve/mcp.h"
#include "trajectory/info.h"

#include <errno.h>
#include <string.h>

/* episode_id of HTTP requests that name none */
#define DEFAULT_EPISODE "default"

#define BUSY "another request of the session is under way"

#define HTTP_OK 200
#define HTTP_NOT_FOUND 404
#define HTTP_CONFLICT 409
#define HTTP_TOO_LARGE 413
#define HTTP_INVALID 422
#define HTTP_FAILED 500
#define HTTP_FULL 503

/* --- answers ---------------------------------------------------------------------------------- */

/* Begins the object of an answer. Over a WebSocket it is the member `data` of a message. */
static struct pyjson_writer openenv_begin(struct client *c, const char *type)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&c->answer, PYJSON_LINE);

	buf_clear(&c->answer);
	pyjson_put_object(&w, NULL);
	if (c->form != CLIENT_MESSAGE)
		return w;
	pyjson_put_text(&w, "type", type);
	pyjson_put_object(&w, "data");
	return w;
}

static void openenv_end(struct client *c, struct pyjson_writer *w, int status)
{
	pyjson_end_object(w);
	if (c->form == CLIENT_MESSAGE)
		pyjson_end_object(w);
	if (c->answer.truncated)
		openenv_refuse(c, "EXECUTION_ERROR", "the answer is too large");
	else
		client_end(c, status);
}

/* Writes one problem of a request, in the form in which pydantic reports it. */
static void openenv_put_problem(struct client *c, struct pyjson_writer *w, const char *key,
		const char *field, const char *message)
{
	pyjson_put_array(w, key);
	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "type", "value_error");
	pyjson_put_array(w, "loc");
	pyjson_put_text(w, NULL, c->form == CLIENT_HTTP ? "body" : "data");
	pyjson_put_text(w, NULL, field);
	pyjson_end_array(w);
	pyjson_put_text(w, "msg", message);
	pyjson_end_object(w);
	pyjson_end_array(w);
}

static void openenv_invalid(struct client *c, const char *field, const char *message)
{
	struct pyjson_writer w = openenv_begin(c, "error");

	if (c->form == CLIENT_HTTP) {
		openenv_put_problem(c, &w, "detail", field, message);
	} else {
		pyjson_put_text(&w, "message", message);
		pyjson_put_text(&w, "code", "VALIDATION_ERROR");
		openenv_put_problem(c, &w, "errors", field, message);
	}
	openenv_end(c, &w, HTTP_INVALID);
}

static void openenv_say(struct client *c, int status, const char *code, const char *message)
{
	struct pyjson_writer w = openenv_begin(c, "error");

	pyjson_put_text(&w, c->form == CLIENT_HTTP ? "detail" : "message", message);
	pyjson_put_text(&w, "code", code);
	openenv_end(c, &w, status);
}

void openenv_refuse(struct client *c, const char *code, const char *message)
{
	openenv_say(c, HTTP_FAILED, code, message);
}

void openenv_refuse_full(struct client *c)
{
	struct pyjson_writer w = openenv_begin(c, "error");
	const struct seats *all = c->seats;

	pyjson_put_text(&w, c->form == CLIENT_HTTP ? "detail" : "message",
			all->draining ? "the server is shutting down"
				      : "the server has no room for another session");
	pyjson_put_text(&w, "code", "CAPACITY_REACHED");
	pyjson_put_i64(&w, "active_sessions", (int64_t)all->n);
	pyjson_put_i64(&w, "max_sessions", all->host->options->max_sessions);
	openenv_end(c, &w, HTTP_FULL);
}

static void openenv_put_metadata(
		struct pyjson_writer *w, const struct seat *s, const struct seat_answer *answer)
{
	const struct fh_step *step = answer->step;

	pyjson_put_object(w, "metadata");
	pyjson_put_text(w, "episode_id", s->episode_id);
	pyjson_put_text(w, "task", s->task->spec);
	if (answer->is_reset)
		pyjson_put_u64(w, "seed", s->seed);
	pyjson_put_bool(w, "terminated", step->terminated);
	pyjson_put_bool(w, "truncated", step->truncated);
	info_put_info(w, step);
	pyjson_end_object(w);
}

static void openenv_put_result(
		struct client *c, const struct seat *s, const struct seat_answer *answer)
{
	struct pyjson_writer w = openenv_begin(c, "observation");
	const struct fh_step *step = answer->step;

	pyjson_put_object(&w, "observation");
	pyjson_put_text(&w, "text", step->observation);
	if (step->exit_status)
		pyjson_put_text(&w, "exit_status", step->exit_status);
	pyjson_end_object(&w);
	if (answer->is_reset)
		pyjson_put_null(&w, "reward");
	else
		pyjson_put_double(&w, "reward", step->reward);
	pyjson_put_bool(&w, "done", step->terminated || step->truncated);
	openenv_put_metadata(&w, s, answer);
	openenv_end(c, &w, HTTP_OK);
}

/* A seat_done: answers a reset or step. */
static void openenv_done(void *user, const struct seat *s, const struct seat_answer *answer)
{
	struct client *c = user;

	switch (answer->failure) {
	case SEAT_OK:
		openenv_put_result(c, s, answer);
		break;
	case SEAT_INVALID:
		openenv_say(c, HTTP_CONFLICT, "EXECUTION_ERROR", answer->message);
		break;
	case SEAT_TOO_LARGE:
		openenv_say(c, HTTP_TOO_LARGE, "EXECUTION_ERROR", answer->message);
		break;
	case SEAT_NO_OPENING:
		openenv_refuse(c, "FACTORY_ERROR", answer->message);
		break;
	case SEAT_FAILED:
		openenv_refuse(c, "EXECUTION_ERROR", answer->message);
		break;
	}
}

static void openenv_put_state(struct client *c)
{
	struct pyjson_writer w = openenv_begin(c, "state");
	const struct seat *s = c->seat;
	bool begun = s && s->env;

	pyjson_put_text(&w, "episode_id", s && *s->episode_id ? s->episode_id : NULL);
	pyjson_put_i64(&w, "step_count", begun ? s->step.step : 0);
	pyjson_put_text(&w, "task", begun ? s->task->spec : NULL);
	pyjson_put_i64(&w, "max_steps", begun ? s->info.max_steps : 0);
	pyjson_put_bool(&w, "done", s && !s->going_on);
	openenv_end(c, &w, HTTP_OK);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Finds the session of an HTTP request by its episode_id. */
static void openenv_find(struct client *c, const char *episode_id)
{
	struct seat *s = seats_find_episode(c->seats, episode_id ? episode_id : DEFAULT_EPISODE);

	if (s)
		client_use_seat(c, s);
}

static void openenv_refuse_unknown(struct client *c)
{
	openenv_say(c, HTTP_NOT_FOUND, "EXECUTION_ERROR",
			"there is no such episode: POST /reset begins one");
}

/* Opens a session for a reset over HTTP: it outlives the request. False: the server is full. */
static bool openenv_open(struct client *c, struct seat_reset *reset)
{
	if (c->form != CLIENT_HTTP)
		return client_open_seat(c);
	if (!reset->episode_id)
		reset->episode_id = DEFAULT_EPISODE;
	openenv_find(c, reset->episode_id);
	if (!client_open_seat(c))
		return false;
	c->owns_seat = false;
	c->seat->detached = true;
	return true;
}

static void openenv_reset(struct client *c, const struct pyjson *data)
{
	struct seat_reset reset;
	struct fh_error err;
	const char *field;

	if (client_read_reset(c, data, &reset, &field, &err) < 0)
		openenv_invalid(c, field, err.message);
	else if (!openenv_open(c, &reset))
		openenv_refuse_full(c);
	else if (c->seat->phase != SEAT_IDLE)
		openenv_say(c, HTTP_CONFLICT, "EXECUTION_ERROR", BUSY);
	else
		client_reset(c, &reset, openenv_done);
}

static void openenv_step(struct client *c, const struct fh_action *action)
{
	if (!client_open_seat(c))
		openenv_refuse_full(c);
	else if (c->seat->phase != SEAT_IDLE)
		openenv_say(c, HTTP_CONFLICT, "EXECUTION_ERROR", BUSY);
	else
		client_step(c, action, openenv_done);
}

/* Refuses an action with a member that actions don't have: its name may be misspelt. */
static int openenv_read_action(const struct pyjson *data, struct fh_action *out,
		const char **out_field, struct fh_error *err)
{
	static const char *const known[] = { "command", "timeout_s", "metadata" };

	for (const struct pyjson *m = data->first; m; m = m->next) {
		bool found = false;

		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			found = found || str_eq(m->key, known[i]);
		*out_field = m->key;
		if (!found)
			return error_say(err, EINVAL, "an action has no '%.80s'", m->key);
	}
	return client_read_step(data, out, out_field, err);
}

/* --- messages --------------------------------------------------------------------------------- */

static void openenv_take(struct client *c, const char *type, const struct pyjson *data)
{
	struct fh_action action;
	struct fh_error err;
	const char *field;

	if (data && data->kind != PYJSON_OBJECT) {
		openenv_invalid(c, "data", "'data' should be an object");
	} else if (str_eq(type, "reset")) {
		openenv_reset(c, data);
	} else if (str_eq(type, "step")) {
		if (!data)
			openenv_invalid(c, "data", "'data' is missing: a step needs an action");
		else if (openenv_read_action(data, &action, &field, &err) < 0)
			openenv_invalid(c, field, err.message);
		else
			openenv_step(c, &action);
	} else if (str_eq(type, "state")) {
		openenv_put_state(c);
	} else if (str_eq(type, "mcp") && data) {
		c->form = CLIENT_RPC_MESSAGE;
		mcp_take(c, data);
	} else if (str_eq(type, "mcp")) {
		openenv_invalid(c, "data", "'data' is missing: it should be a JSON-RPC request");
	} else {
		openenv_say(c, HTTP_INVALID, "UNKNOWN_TYPE",
				"'type' should be \"reset\", \"step\", \"state\", \"mcp\" or \"close\"");
	}
}

/* Reads a text that should be a JSON object. */
static const struct pyjson *openenv_read(
		struct client *c, const char *text, size_t n, struct fh_error *err)
{
	struct pyjson_source source = { .name = "message", .data = text, .n = n };
	const struct pyjson *value;

	return pyjson_read(&c->arena, &source, &value, err) < 0 ? NULL : value;
}

void openenv_message(struct client *c, const char *text, size_t n)
{
	const struct pyjson *message;
	struct fh_error err;

	client_begin(c, CLIENT_MESSAGE);
	message = openenv_read(c, text, n, &err);
	if (!message) {
		openenv_say(c, HTTP_INVALID, "INVALID_JSON", err.message);
	} else if (message->kind != PYJSON_OBJECT) {
		openenv_invalid(c, "type", "a message should be an object");
	} else if (str_eq(pyjson_text(pyjson_get(message, "type")), "close")) {
		c->closed = true;
		client_end(c, HTTP_OK);
	} else {
		openenv_take(c, pyjson_text(pyjson_get(message, "type")),
				pyjson_get(message, "data"));
	}
}

/* --- HTTP ------------------------------------------------------------------------------------- */

/* Reads the body of a request, an object. NULL: the request is answered. An empty body is an empty
 * object. */
static const struct pyjson *openenv_read_body(struct client *c, const char *text, size_t n)
{
	const struct pyjson *body;
	struct fh_error err;

	body = openenv_read(c, n ? text : "{}", n ? n : 2, &err);
	if (!body)
		openenv_invalid(c, "body", err.message);
	else if (body->kind != PYJSON_OBJECT)
		openenv_invalid(c, "body", "the body should be an object");
	return body && body->kind == PYJSON_OBJECT ? body : NULL;
}

void openenv_post_reset(struct client *c, const char *text, size_t n)
{
	const struct pyjson *body;

	client_begin(c, CLIENT_HTTP);
	body = openenv_read_body(c, text, n);
	if (body)
		openenv_reset(c, body);
}

void openenv_post_step(struct client *c, const char *text, size_t n)
{
	const struct pyjson *body, *action, *timeout;
	struct fh_action step;
	struct fh_error err;
	const char *field = "action";

	client_begin(c, CLIENT_HTTP);
	body = openenv_read_body(c, text, n);
	if (!body)
		return;
	action = pyjson_get(body, "action");
	if (!action || action->kind != PYJSON_OBJECT) {
		openenv_invalid(c, field, "'action' should be an object with a 'command'");
		return;
	}
	if (openenv_read_action(action, &step, &field, &err) < 0) {
		openenv_invalid(c, field, err.message);
		return;
	}
	timeout = pyjson_get(body, "timeout_s");
	if (timeout && timeout->kind != PYJSON_NULL &&
			(!pyjson_double(timeout, &step.timeout_s) ||
					step.timeout_s < FH_TIMEOUT_S_MIN)) {
		openenv_invalid(c, "timeout_s", "'timeout_s' should be a positive number");
		return;
	}
	openenv_find(c, pyjson_string(pyjson_get(body, "episode_id")));
	if (!c->seat)
		openenv_refuse_unknown(c);
	else
		openenv_step(c, &step);
}

void openenv_get_state(struct client *c, const char *episode_id)
{
	client_begin(c, CLIENT_HTTP);
	openenv_find(c, episode_id);
	/* OpenEnv's own server tells the state before the first reset, too. */
	if (!c->seat && episode_id)
		openenv_refuse_unknown(c);
	else
		openenv_put_state(c);
}
