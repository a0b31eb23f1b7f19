/* SPDX-License-Identifier: Apache-2.0 */
#include "run/foreign.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/foreign_messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Most calls of an agent at a time, as the gateway allows, and bytes of their requests. */
#define CALLS_MAX 16
#define PENDING_BYTES_MAX (32L << 20)
/* Most bytes of requests and answers that a run records: a .traj repeats them, and must be read
 * back. */
#define RECORDED_BYTES_MAX (48L << 20)
#define FOREIGN_ANSWER_BYTES_MAX (1L << 20)
#define FOREIGN_JSON_BYTES_MAX (60L << 20)
/* most levels of a request's JSON; the record is read back with fewer than jansson has */
#define FOREIGN_DEPTH_MAX 64

struct foreign_call {
	uint32_t id; /* number of the call in the gateway; 0: this entry is free */
	struct chat_call *chat;
	char *line, *body;
	size_t n_body;
	int64_t began_ns;
};

struct foreign {
	struct foreign_request given;
	char key[33]; /* the agent's key for the gateway */
	struct foreign_call calls[CALLS_MAX];
	size_t n_pending;   /* bytes of the bodies of `calls` */
	int n_calls;        /* number of calls that were begun */
	int64_t n_recorded; /* bytes of requests and answers in the record */
	struct foreign_messages said;
	struct fh_error last; /* why the last call failed; code 0: it did not */
};

/* --- answers ---------------------------------------------------------------------------------- */

/* Answers a call with an error, which has the members of both protocols' errors. */
static void foreign_refuse(struct foreign *f, uint32_t id, int status, const char *why)
{
	auto_buf struct buf text = BUF_INIT(FOREIGN_ANSWER_BYTES_MAX);
	const char *type = status == 401 ? "authentication_error"
			: status == 403  ? "permission_error"
			: status == 404  ? "not_found_error"
			: status == 429  ? "rate_limit_error"
			: status >= 500  ? "api_error"
					 : "invalid_request_error";
	auto_json json_t *body = json_pack("{s:s, s:{s:s, s:o, s:o}}", "type", "error", "error",
			"type", type, "message", json_text(why), "code",
			f->last.code == -E2BIG && status == 400
					? json_string("context_length_exceeded")
					: json_null());

	json_add(&text, body, false);
	env_answer_call(f->given.env, &(struct env_answer){ id, status, buf_str(&text), text.len });
}

/* Lists the run's model, for agents that look before they call. */
static void foreign_list_models(struct foreign *f, uint32_t id)
{
	auto_buf struct buf text = BUF_INIT(FOREIGN_ANSWER_BYTES_MAX);
	auto_json json_t *body = json_pack("{s:s, s:[{s:o, s:s, s:s, s:i}]}", "object", "list",
			"data", "id", json_text(chat_model_name(f->given.model)), "object", "model",
			"owned_by", "fumehood", "created", 0);

	json_add(&text, body, false);
	env_answer_call(f->given.env, &(struct env_answer){ id, 200, buf_str(&text), text.len });
}

/* --- limits ----------------------------------------------------------------------------------- */

/* Sets f->last and returns true if a limit of the run is reached. */
static bool foreign_is_at_limit(struct foreign *f)
{
	const struct foreign_options *o = f->given.options;
	struct chat_stats stats;
	int64_t tokens;

	chat_model_stats(f->given.model, &stats);
	tokens = stats.tokens_sent + stats.tokens_received;
	if (o->max_calls && f->n_calls >= o->max_calls)
		error_say(&f->last, EDQUOT, "the agent has made %d calls, and may make no more",
				o->max_calls);
	else if (o->max_tokens && tokens >= o->max_tokens)
		error_say(&f->last, EDQUOT, "the agent has used %lld tokens, and may use %d in all",
				(long long)tokens, o->max_tokens);
	else if (f->n_recorded > RECORDED_BYTES_MAX)
		error_say(&f->last, EDQUOT, "the record of the agent's calls is full");
	else
		return false;
	return true;
}

/* HTTP status for the failure of a call. A client repeats only some of them: those above 499, which
 * the run has repeated already. */
static int foreign_status(const struct chat_call *call, const struct fh_error *why)
{
	int status = chat_call_status(call);

	if (why->code == -EDQUOT || why->code == -ECANCELED)
		return 403;
	if (why->code == -E2BIG || why->code == -EINVAL)
		return 400;
	return status >= 400 && status < 500 && status != 429 ? status : 502;
}

/* --- calls ------------------------------------------------------------------------------------ */

static void foreign_drop(struct foreign *f, struct foreign_call *c)
{
	chat_call_free(c->chat);
	f->n_pending -= c->n_body;
	free(c->line);
	free(c->body);
	*c = (struct foreign_call){ 0 };
}

static struct foreign_call *foreign_find(struct foreign *f, uint32_t id)
{
	for (size_t i = 0; i < CALLS_MAX; i++)
		if (f->calls[i].id == id)
			return &f->calls[i];
	return NULL;
}

static void foreign_ask(struct foreign *f, struct foreign_call *c, const struct env_call *call)
{
	*c = (struct foreign_call){ .id = call->id,
		.line = xstrdup(call->line),
		.body = xcalloc(call->n_body + 1, 1),
		.n_body = call->n_body,
		.began_ns = clock_now_ns() };
	memcpy(c->body, call->body, call->n_body);
	f->n_pending += c->n_body;
	f->n_calls++;
	c->chat = chat_begin(f->given.model,
			&(struct chat_request){ .raw = c->body, .n_raw = c->n_body },
			f->given.user);
}

/* Compares keys in a time that does not depend on where they differ. */
static bool foreign_key_fits(const struct foreign *f, const char *key)
{
	unsigned char differs = strlen(key) != strlen(f->key);

	for (size_t i = 0; !differs && f->key[i]; i++)
		differs |= (unsigned char)(f->key[i] ^ key[i]);
	return !differs;
}

/* Returns true if the line asks for the protocol of the run's model. A client's base URL may lack
 * "/v1". */
static bool foreign_fits(const struct foreign *f, const char *line)
{
	const char *path = chat_model_path(f->given.model);

	if (!str_starts(line, "POST /"))
		return false;
	line += strlen("POST ");
	return str_eq(str_starts(line, "/v1/") ? line + strlen("/v1") : line, path);
}

/* Takes a call of the agent. It is an env_call_fn. */
static void foreign_on_call(void *user, const struct env_call *call)
{
	struct foreign *f = user;
	struct foreign_call *c = foreign_find(f, call->id), *room = foreign_find(f, 0);
	auto_free char *why = NULL;

	if (c) { /* the client has gone; an honest gateway uses no number twice */
		foreign_drop(f, c);
	} else if (!call->line) {
		return;
	} else if (!foreign_key_fits(f, call->key)) {
		foreign_refuse(f, call->id, 401, "the key is not that of OPENAI_API_KEY");
	} else if (str_eq(call->line, "GET /v1/models") || str_eq(call->line, "GET /models")) {
		foreign_list_models(f, call->id);
	} else if (!foreign_fits(f, call->line)) {
		why = xasprintf("this run's model answers POST /v1%s alone, not %s: choose a "
				"--model of the protocol that the agent speaks",
				chat_model_path(f->given.model), call->line);
		foreign_refuse(f, call->id, 404, why);
	} else if (foreign_is_at_limit(f)) {
		foreign_refuse(f, call->id, 403, f->last.message);
	} else if (!room || f->n_pending + call->n_body > PENDING_BYTES_MAX) {
		foreign_refuse(f, call->id, 429, "too many calls at a time");
	} else {
		foreign_ask(f, room, call);
	}
}

/* Passes on a `validate` or `submit` of the agent. It is an env_request_fn. */
static void foreign_on_request(void *user, int request, const struct fh_step *told)
{
	const struct foreign *f = user;

	f->given.on_request(f->given.user, request, told);
}

/* --- records ---------------------------------------------------------------------------------- */

static size_t foreign_depth(json_t *value)
{
	json_t *member;
	const char *key;
	size_t i, most = 0, depth;

	json_array_foreach(value, i, member) {
		depth = foreign_depth(member);
		most = depth > most ? depth : most;
	}
	json_object_foreach(value, key, member) {
		depth = foreign_depth(member);
		most = depth > most ? depth : most;
	}
	return most + 1;
}

/* Records a call that was sent: its new messages, and the answer. */
static int foreign_record(struct foreign *f, const struct foreign_call *c, int status,
		const struct chat_reply *reply, struct fh_error *err)
{
	auto_buf struct buf request = BUF_INIT(FOREIGN_JSON_BYTES_MAX);
	json_t *sent = chat_call_sent(c->chat);
	struct recorder_call call = { .number = f->n_calls,
		.line = c->line,
		.status = status,
		.seconds = (double)(clock_now_ns() - c->began_ns) / NS_PER_S,
		.request = "null",
		.answer = "null" };
	int r;

	if (sent && foreign_depth(sent) <= FOREIGN_DEPTH_MAX) {
		r = foreign_messages_record(
				&f->said, f->given.recorder, sent, reply, &call.old_messages, err);
		if (r < 0)
			return r;
		foreign_messages_add_request(&request, sent, call.old_messages);
		call.request = buf_str(&request);
	}
	if (reply) {
		call.tokens_sent = reply->tokens_sent;
		call.tokens_received = reply->tokens_received;
		call.cost = reply->cost;
		call.answer = reply->raw;
	}
	f->n_recorded += (int64_t)(2 * request.len + 2 * strlen(call.answer));
	return recorder_call(f->given.recorder, &call, err);
}

int foreign_take(struct foreign *f, struct chat_call *chat, struct fh_error *err)
{
	struct foreign_call *c = f->calls;
	struct chat_reply reply;
	int r, status = 200;

	while (c->chat != chat)
		c++;
	f->last.code = 0;
	r = chat_end(chat, &reply, &f->last);
	if (r < 0)
		status = foreign_status(chat, &f->last);
	else
		env_answer_call(f->given.env,
				&(struct env_answer){
						c->id, status, reply.raw, strlen(reply.raw) });
	if (r < 0)
		foreign_refuse(f, c->id, status, f->last.message);
	r = foreign_record(f, c, status, r < 0 ? NULL : &reply, err);
	foreign_drop(f, c);
	return r;
}

/* --- the agent -------------------------------------------------------------------------------- */

int foreign_check(const struct foreign_options *options, const struct run_agent *agents, size_t n,
		struct fh_error *err)
{
	for (size_t i = 0; options->command && i < n; i++) {
		if (!agents[i].chat)
			return error_say(err, EINVAL,
					"--agent-command needs a language model as --model, not %s",
					agents[i].model);
		if (!str_eq(agents[i].spec, "default"))
			return error_say(err, EINVAL,
					"--agent-command replaces --agent: give one of them");
	}
	return 0;
}

void foreign_stop(struct foreign *f)
{
	for (size_t i = 0; f && i < CALLS_MAX; i++)
		if (f->calls[i].id)
			foreign_drop(f, &f->calls[i]);
}

void foreign_close(struct foreign *f)
{
	if (!f)
		return;
	foreign_stop(f);
	foreign_messages_release(&f->said);
	free(f);
}

int foreign_begin(const struct foreign_request *request, const char *task, struct foreign **out,
		struct fh_error *err)
{
	struct foreign *f = xcalloc(1, sizeof(*f));
	uint8_t random[16];

	*out = f;
	f->given = *request;
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return error_set(err, errno, "draw a random key");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(f->key + 2 * i, 3, "%02x", random[i]);
	env_hide(request->env, chat_model_key(request->model));
	return env_run_agent_start(request->env,
			&(struct env_agent){
					.command = request->options->command,
					.timeout_s = request->options->timeout_s,
					.key = f->key,
					.model = chat_model_name(request->model),
					.task = task,
					.on_call = foreign_on_call,
					.on_request = foreign_on_request,
					.user = f,
			},
			err);
}

const char *foreign_finish(const struct foreign *f, const struct fh_step *step)
{
	switch (-f->last.code) {
	case 0:
		break;
	case E2BIG:
		return "exit_context";
	case EDQUOT:
	case ECANCELED:
		return "exit_cost";
	case EIO:
		return "exit_api";
	}
	if (step->outcome != FH_OUTCOME_OK && step->outcome != FH_OUTCOME_OUTPUT_LIMIT)
		return "exit_error";
	return step->exit_code == 0 ? "submit" : "exit_error";
}

const struct fh_error *foreign_failure(const struct foreign *f)
{
	return f->last.code == -EIO || f->last.code == -ECANCELED ? &f->last : NULL;
}
