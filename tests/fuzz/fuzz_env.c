/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/env_protocol.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Fuzzes `fumehood env` with lines of input. Each line gets one line of JSON as its answer: a
 * result or a documented error. Requests reach the environment only if they are valid and in order.
 * The environment is a fake: it returns each action as observation, and fails for some.
 */
struct echo {
	bool on, closed;
	bool asked, failed; /* the last line of input called it; the call failed */
	char *text;         /* text of the last action that was played */
};

static void check(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static int reset(void *data, uint64_t seed, struct fh_step *out, struct fh_error *err)
{
	struct echo *e = data;

	check(!e->closed);
	e->asked = true;
	e->on = seed != 13;
	e->failed = !e->on;
	if (e->failed)
		return error_say(err, EIO, "unlucky");
	*out = (struct fh_step){ .observation = "welcome", .working_dir = "/", .exit_code = -1 };
	return 0;
}

static int step(void *data, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err)
{
	static const struct fh_metric score = { "accuracy", 0.5 };
	struct echo *e = data;

	check(e->on && !e->closed);
	check(str_utf8_invalid(action->text, strlen(action->text)) < 0);
	check(action->timeout_s >= 0 && isfinite(action->timeout_s));
	e->asked = true;
	e->failed = str_starts(action->text, "fail") || str_starts(action->text, "refuse");
	if (e->failed)
		return error_say(err, *action->text == 'f' ? EIO : EINVAL, "%s", action->text);
	free(e->text);
	e->text = xstrdup(action->text);
	e->on = !str_eq(e->text, "submit");
	*out = (struct fh_step){
		.observation = e->text,
		.working_dir = e->text,
		.integrity = action->timeout_s > 1 ? e->text : NULL,
		.score = e->on ? NULL : &score,
		.n_score = !e->on,
		.terminated = !e->on,
		.exit_status = e->on ? NULL : "submitted",
	};
	return 0;
}

static int close_echo(void *data, struct fh_error *err)
{
	struct echo *e = data;

	check(!e->closed);
	e->asked = e->closed = true;
	return 0;
}

static const struct env_service service = { reset, step, close_echo };

static void check_error(const struct echo *e, const json_t *error)
{
	static const char *const codes[] = { "bad_json", "too_long", "unknown_op", "bad_argument",
		"not_reset", "episode_over", "failed" };
	const char *code = json_string_value(json_object_get(error, "code"));
	bool known = false;

	check(json_object_get(error, "message") != NULL);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		known = known || str_eq(code, codes[i]);
	check(known && (!e->asked || e->failed));
}

static void check_answer(const struct echo *e, const struct env_protocol *p)
{
	const struct buf *text = &p->answer;
	auto_json json_t *answer = NULL;
	const json_t *error;

	check(e->on == (p->state == ENV_GOING_ON));
	check(text->len && memchr(text->data, '\n', text->len) == text->data + text->len - 1);
	check(json_parse("answer", text->data, text->len, &answer, NULL) == 0);
	error = json_object_get(answer, "error");
	if (error) {
		check_error(e, error);
		return;
	}
	check(e->asked && !e->failed && p->closed == e->closed);
	if (json_object_get(answer, "reward"))
		check(str_eq(json_string_value(json_object_get(answer, "observation")), e->text));
}

static void converse(struct env_protocol *p, struct echo *e, int in)
{
	__attribute__((cleanup(lines_release))) struct lines lines = LINES_INIT;
	struct fh_error err;
	const char *line;
	size_t n;

	while (!p->closed && lines_next(&lines, in, -1, &line, &n) == LINES_LINE) {
		e->asked = e->failed = false;
		env_protocol_line(p, line, n, &err);
		check_answer(e, p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_close int in = memfd_create("input", MFD_CLOEXEC);
	struct echo e = { 0 };
	struct env_protocol p;

	check(fd_write_full(in, data, n) == 0 && lseek(in, 0, SEEK_SET) == 0);
	env_protocol_init(&p, &service, &e, 0);
	converse(&p, &e, in);
	env_protocol_release(&p);
	free(e.text);
	return 0;
}
