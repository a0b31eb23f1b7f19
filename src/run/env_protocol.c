/* SPDX-License-Identifier: Apache-2.0 */
#include "run/env_protocol.h"

#include "base/scope.h"
#include "base/str.h"
#include "trajectory/info.h"
#include "python/pyjson.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define PROTOCOL_ANSWER_BYTES_MAX (64L * 1024 * 1024)

void env_protocol_init(struct env_protocol *p, const struct env_service *service, void *data,
		uint64_t first_seed)
{
	*p = (struct env_protocol){ .service = service, .data = data, .next_seed = first_seed };
	buf_init(&p->answer, PROTOCOL_ANSWER_BYTES_MAX);
}

void env_protocol_release(struct env_protocol *p)
{
	buf_release(&p->answer);
}

/* --- answers ---------------------------------------------------------------------------------- */

static int env_protocol_answer_error(struct env_protocol *p, const char *code, const char *message)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&p->answer, PYJSON_LINE);

	buf_clear(&p->answer);
	pyjson_put_object(&w, NULL);
	pyjson_put_object(&w, "error");
	pyjson_put_text(&w, "code", code);
	pyjson_put_text(&w, "message", message);
	pyjson_end_object(&w);
	pyjson_end_object(&w);
	return 0;
}

/* Handles the failure r of a request to `fumehood env`. Answers a client's mistake (-EINVAL,
 * -E2BIG) with an error and returns 0. Answers any other failure too, but returns it. */
static int env_protocol_answer_failure(struct env_protocol *p, int r, const struct fh_error *err)
{
	bool bad_request = r == -EINVAL || r == -E2BIG;

	env_protocol_answer_error(p, bad_request ? "bad_argument" : "failed", err->message);
	return bad_request ? 0 : r;
}

static void env_protocol_answer_step(struct env_protocol *p, const struct fh_step *step,
		void (*put)(struct pyjson_writer *w, const struct fh_step *step))
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&p->answer, PYJSON_LINE);

	pyjson_put_object(&w, NULL);
	put(&w, step);
	pyjson_end_object(&w);
}

/* --- operations ------------------------------------------------------------------------------- */

static int env_protocol_do_reset(
		struct env_protocol *p, const struct pyjson *request, struct fh_error *err)
{
	const struct pyjson *given = pyjson_get(request, "seed");
	int64_t seed = (int64_t)p->next_seed;
	struct fh_step step = { 0 };
	int r;

	if (given && given->kind != PYJSON_NULL && !pyjson_i64(given, &seed))
		seed = -1;
	/* Refuse the seed if it is below 0. The request's seed is wrong then, or it has none and
	 * the last reset had the largest. */
	if (seed < 0)
		return error_say(err, EINVAL, "'seed' should be a whole number from 0 to %" PRId64,
				INT64_MAX);
	p->state = ENV_NOT_RESET;
	r = p->service->reset(p->data, (uint64_t)seed, &step, err);
	if (r < 0)
		return r;
	p->state = ENV_GOING_ON;
	p->next_seed = (uint64_t)seed + 1;
	env_protocol_answer_step(p, &step, info_put_reset);
	return 0;
}

static int env_protocol_read_action(
		const struct pyjson *request, struct fh_action *out, struct fh_error *err)
{
	const struct pyjson *action = pyjson_get(request, "action");
	const struct pyjson *timeout = pyjson_get(request, "timeout_s");

	if (!action)
		return error_say(err, EINVAL, "'action' is missing: a step needs one");
	out->text = pyjson_string(action);
	if (!out->text)
		return error_say(err, EINVAL, "'action' should be a string without a NUL");
	if (str_utf8_invalid(out->text, strlen(out->text)) >= 0)
		return error_say(err, EINVAL, "'action' holds half of a surrogate pair");
	if (!timeout || timeout->kind == PYJSON_NULL)
		return 0;
	if (!pyjson_double(timeout, &out->timeout_s) || out->timeout_s < FH_TIMEOUT_S_MIN)
		return error_say(err, EINVAL, "'timeout_s' should be a number of at least %g",
				FH_TIMEOUT_S_MIN);
	return 0;
}

static int env_protocol_do_step(
		struct env_protocol *p, const struct pyjson *request, struct fh_error *err)
{
	struct fh_action action = FH_ACTION();
	struct fh_step step = { 0 };
	int r;

	if (p->state == ENV_NOT_RESET)
		return env_protocol_answer_error(
				p, "not_reset", "there is no episode yet: ask for a reset");
	if (p->state == ENV_OVER)
		return env_protocol_answer_error(
				p, "episode_over", "the episode has ended: ask for a reset");
	r = env_protocol_read_action(request, &action, err);
	if (r < 0)
		return r;
	r = p->service->step(p->data, &action, &step, err);
	if (r < 0)
		return r;
	if (step.terminated || step.truncated)
		p->state = ENV_OVER;
	env_protocol_answer_step(p, &step, info_put_step);
	return 0;
}

static int env_protocol_do_close(
		struct env_protocol *p, const struct pyjson *request, struct fh_error *err)
{
	int r = p->service->close(p->data, err);

	if (r < 0)
		return r;
	p->closed = true;
	buf_add_str(&p->answer, "{\"closed\":true}");
	return 0;
}

struct env_op {
	const char *name;
	/* members of a request's JSON object that are allowed beside "op" */
	const char *members[3];
	int (*run)(struct env_protocol *p, const struct pyjson *request, struct fh_error *err);
};

static const struct env_op env_ops[] = {
	{ "reset", { "seed" }, env_protocol_do_reset },
	{ "step", { "action", "timeout_s" }, env_protocol_do_step },
	{ "close", { NULL }, env_protocol_do_close },
};

/* --- a line ----------------------------------------------------------------------------------- */

/* Refuses a request that has the member `key` twice. */
static int env_protocol_check_once(
		const struct pyjson *request, const char *key, struct fh_error *err)
{
	size_t n = 0;

	for (const struct pyjson *m = request->first; m; m = m->next)
		n += str_eq(m->key, key);
	return n > 1 ? error_say(err, EINVAL, "'%s' is given twice", key) : 0;
}

/* Refuses a request with a member that the operation does not know: the name may be misspelt. */
static int env_protocol_check_members(
		const struct env_op *op, const struct pyjson *request, struct fh_error *err)
{
	for (const struct pyjson *m = request->first; m; m = m->next) {
		bool known = str_eq(m->key, "op");

		for (size_t i = 0; i < ARRAY_SIZE(op->members); i++)
			known = known || str_eq(m->key, op->members[i]);
		if (!known)
			return error_say(err, EINVAL, "'%s' takes no '%s'", op->name, m->key);
	}
	for (size_t i = 0; op->members[i]; i++) {
		int r = env_protocol_check_once(request, op->members[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int env_protocol_do(
		struct env_protocol *p, const struct pyjson *request, struct fh_error *err)
{
	const char *name;
	int r;

	if (request->kind != PYJSON_OBJECT)
		return error_say(err, EINVAL,
				"a request should be a JSON object, such as {\"op\":\"reset\"}");
	name = pyjson_string(pyjson_get(request, "op"));
	r = env_protocol_check_once(request, "op", err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(env_ops); i++) {
		if (!str_eq(env_ops[i].name, name))
			continue;
		r = env_protocol_check_members(&env_ops[i], request, err);
		return r < 0 ? r : env_ops[i].run(p, request, err);
	}
	return env_protocol_answer_error(
			p, "unknown_op", "'op' should be \"reset\", \"step\" or \"close\"");
}

static void env_protocol_end_answer(struct env_protocol *p)
{
	buf_add_char(&p->answer, '\n');
	if (!p->answer.truncated)
		return;
	env_protocol_answer_error(p, "failed", "the answer is too large");
	buf_add_char(&p->answer, '\n');
}

int env_protocol_line(struct env_protocol *p, const char *line, size_t n, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct pyjson_source source = { .name = "request", .data = line, .n = n };
	const struct pyjson *request;
	int r;

	buf_clear(&p->answer);
	if (pyjson_read(&arena, &source, &request, err) < 0) {
		r = env_protocol_answer_error(p, "bad_json", err->message);
	} else {
		r = env_protocol_do(p, request, err);
		if (r < 0)
			r = env_protocol_answer_failure(p, r, err);
	}
	env_protocol_end_answer(p);
	return r;
}

void env_protocol_not_opened(struct env_protocol *p, const char *message)
{
	env_protocol_answer_error(p, "not_opened", message);
	env_protocol_end_answer(p);
}

void env_protocol_too_long(struct env_protocol *p)
{
	env_protocol_answer_error(p, "too_long", "a line is longer than 16 MiB");
	env_protocol_end_answer(p);
}
