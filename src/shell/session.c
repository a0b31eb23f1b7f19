/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/ops.h"

#include "sandbox/ops.h"

static const struct shell_ops *session_ops(const struct session *s)
{
	return s->sb->ops->shell;
}

struct session *session_new(struct sandbox *sb, size_t output_bytes)
{
	struct session *s = sb->ops->shell->open();

	s->sb = sb;
	buf_init(&s->output, output_bytes);
	return s;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	buf_release(&s->output);
	session_ops(s)->close(s);
}

int session_begin(struct session *s, const char *command, int64_t timeout_ms, bool check_syntax,
		struct fh_error *err)
{
	return session_ops(s)->begin(s, command, timeout_ms,
			check_syntax ? SESSION_CHECKED : SESSION_PLAIN, err);
}

int session_begin_aside(
		struct session *s, const char *command, int64_t timeout_ms, struct fh_error *err)
{
	return session_ops(s)->begin(s, command, timeout_ms, SESSION_ASIDE, err);
}

void session_waits(const struct session *s, struct waits *w)
{
	session_ops(s)->waits(s, w);
}

void session_waits_awake(const struct session *s, struct waits *w)
{
	session_ops(s)->waits_awake(s, w);
}

bool session_advance(struct session *s)
{
	return session_ops(s)->advance(s);
}

bool session_answered(const struct session *s)
{
	return session_ops(s)->answered(s);
}

bool session_await_quick(struct session *s)
{
	return session_ops(s)->await_quick(s);
}

void session_cancel(struct session *s)
{
	session_ops(s)->cancel(s);
}

bool session_take_request(struct session *s, int request)
{
	bool asked = s->result.requests & request;

	s->result.requests &= ~request;
	return asked;
}

void session_on_streams(struct session *s, sandbox_take_output *take, void *arg)
{
	s->take_stream = take;
	s->stream_arg = arg;
}

bool session_take_hungry(struct session *s)
{
	bool hungry = s->is_hungry;

	s->is_hungry = false;
	return hungry;
}

const struct session_result *session_result(const struct session *s)
{
	return &s->result;
}

const struct buf *session_output(const struct session *s)
{
	return &s->output;
}

int session_command(struct session *s, const char *command, int64_t timeout_ms, bool check_syntax,
		struct fh_error *err)
{
	int r = session_begin(s, command, timeout_ms, check_syntax, err);

	if (r < 0)
		return r;
	while (!session_advance(s)) {
		struct waits w = WAITS_INIT;

		if (session_await_quick(s))
			continue;
		session_waits(s, &w);
		waits_poll(&w);
	}
	return 0;
}
