/* SPDX-License-Identifier: Apache-2.0 */
#include "run/env_protocol.h"

#include "base/scope.h"
#include "base/str.h"
#include "trajectory/info.h"
#include "python/pyjson.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ANSWER_BYTES_MAX (64L * 1024 * 1024)

void env_protocol_init(struct env_protocol *p, const struct env_service *service, void *data,
		uint64_t first_seed)
{
	*p = (struct env_protocol){ .service = service, .data = data, .next_seed = first_seed };
	buf_init(&p->answer, ANSWER_BYTES_MAX);
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

/* -EINVAL and -E2BIG are the asker's; anything else is ours. */
static int env_protocol_answer_failure(struct env_protocol *p, int r, const struct fh_error *err)
{
	bool asked_wrongly = r == -EINVAL || r == -E2BIG;

	env_protocol_answer_error(p, asked_wrongly ? "bad_argument" : "failed", err->message);
	return asked_wrongly ? 0 : r;
}

static void env_protocol_answer_step(struct env_protocol *p, const struct fh_step *step,
		void (*put)(struct pyjson_writer *w, const struct fh_step *step))
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&p->answer, PYJSON_LINE);

	pyjson_put_object(&w, NULL);
	put(&w, step);
	pyjson_end_object(&w);
}

/* --- what can be asked ------------------------------------------------------------------------ */

static int env_protocol_read_seed(
		const struct pyjson *request, uint64_t *seed, struct fh_error *err)
{
	const struct pyjson *v = pyjson_get(request, "seed");
	int64_t number;

	if (!v || v->kind == PYJSON_NULL)
		return 0;
	if (!pyjson_i64(v, &number) || number < 0)
		return error_say(err, EINVAL, "'seed' should be a whole number from 0 to %" PRId64,
				INT64_MAX);
	*seed = (uint64_t)number;
	return 0;
}

static int env_protocol_do_reset(
		struct env_protocol *p, const struct pyjson *request, struct fh_error *err)
{
	uint64_t seed = p->next_seed;
	struct fh_step step = { 0 };
	int r = env_protocol_read_seed(request, &seed, err);

	if (r < 0)
		return r;
	p->state = ENV_NOT_RESET;
	r = p->service->reset(p->data, seed, &step, err);
	if (r < 0)
		return r;
	p->state = ENV_GOING_ON;
	p->next_seed = seed + 1;
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
	struct fh_action action = { 0 };
	struct fh_step step = { 0 };
	int r;

	if (p->state == ENV_NOT_RESET)
		return env_protocol_answer_error(
				p, "not_reset", "there is no episode yet: ask for a reset");
	if (p->state == ENV_OVER)
		return env_protocol_answer_error(
				p, "episode_over", "the episode is over: ask for a reset");
	r = env_protocol_read_action(request, &action, err);
	if (r == 0)
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

struct op {
	const char *name;
	const char *members[3]; /* beside "op" */
	int (*run)(struct env_protocol *p, const struct pyjson *request, struct fh_error *err);
};

static const struct op ops[] = {
	{ "reset", { "seed" }, env_protocol_do_reset },
	{ "step", { "action", "timeout_s" }, env_protocol_do_step },
	{ "close", { NULL }, env_protocol_do_close },
};

static const struct op *env_protocol_find_op(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(ops); i++) {
		if (str_eq(ops[i].name, name))
			return &ops[i];
	}
	return NULL;
}

static size_t env_protocol_count(const struct pyjson *request, const char *key)
{
	size_t n = 0;

	for (const struct pyjson *m = request->first; m; m = m->next)
		n += str_eq(m->key, key);
	return n;
}

/* Which of two is meant, nobody knows. */
static int env_protocol_check_once(
		const struct pyjson *request, const char *key, struct fh_error *err)
{
	if (env_protocol_count(request, key) > 1)
		return error_say(err, EINVAL, "'%s' is given twice", key);
	return 0;
}

/* A member that nobody reads is a misspelt one. */
static int env_protocol_check_members(
		const struct op *op, const struct pyjson *request, struct fh_error *err)
{
	int r = 0;

	for (const struct pyjson *m = request->first; m; m = m->next) {
		bool known = str_eq(m->key, "op");

		for (size_t i = 0; i < ARRAY_SIZE(op->members); i++)
			known = known || str_eq(m->key, op->members[i]);
		if (!known)
			return error_say(err, EINVAL, "'%s' takes no '%s'", op->name, m->key);
	}
	for (size_t i = 0; op->members[i] && r == 0; i++)
		r = env_protocol_check_once(request, op->members[i], err);
	return r;
}

/* --- a line ----------------------------------------------------------------------------------- */

static int env_protocol_serve(
		struct env_protocol *p, const char *line, size_t n, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct pyjson_source source = { .name = "request", .data = line, .n = n };
	const struct pyjson *request;
	const struct op *op;
	int r;

	if (pyjson_read(&arena, &source, &request, err) < 0)
		return env_protocol_answer_error(p, "bad_json", err->message);
	r = request->kind == PYJSON_OBJECT ? env_protocol_check_once(request, "op", err) : 0;
	if (r < 0)
		return env_protocol_answer_failure(p, r, err);
	op = env_protocol_find_op(pyjson_string(pyjson_get(request, "op")));
	if (!op)
		return env_protocol_answer_error(
				p, "unknown_op", "'op' should be \"reset\", \"step\" or \"close\"");
	r = env_protocol_check_members(op, request, err);
	if (r == 0)
		r = op->run(p, request, err);
	return r < 0 ? env_protocol_answer_failure(p, r, err) : 0;
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
	int r;

	buf_clear(&p->answer);
	r = env_protocol_serve(p, line, n, err);
	env_protocol_end_answer(p);
	return r;
}

void env_protocol_too_long(struct env_protocol *p)
{
	env_protocol_answer_error(p, "too_long", "a line is longer than 16 MiB");
	env_protocol_end_answer(p);
}
