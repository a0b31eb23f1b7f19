/* SPDX-License-Identifier: Apache-2.0 */
#include "env/gateway.h"

#include "base/clock.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/tools.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* Linux takes less than 128 KiB for one variable. With a longer one no program could start. */
#define VARIABLE_BYTES_MAX (96 << 10)

void gateway_init(struct gateway *g, struct sandbox *sb)
{
	*g = (struct gateway){
		.sb = sb,
		.calls = BUF_INIT(GATEWAY_CALL_MAX + sizeof(struct gateway_call_head) + (1 << 20)),
		.answers = BUF_INIT(2 * GATEWAY_ANSWER_MAX),
	};
}

int gateway_start(struct gateway *g, struct sandbox *sb, struct fh_error *err)
{
	int r;

	gateway_init(g, sb);
	sandbox_on_output(sb, gateway_take_output, g);
	r = sandbox_run(sb,
			&(struct program_request){
					.argv = (const char *const[]){ GATEWAY_NAME, NULL },
					.program = places_get()->aci,
					.user = USER_ROOT,
					.streams = (const int[]){ STREAM_INPUT, STREAM_PIPE_1,
							STREAM_NOTHING },
					.n_streams = 3,
			},
			&g->program, err);
	if (r < 0) {
		gateway_forget(g);
		return error_wrap(err, "start the gateway of the agent's model");
	}
	return 0;
}

void gateway_forget(struct gateway *g)
{
	g->sb = NULL;
	buf_release(&g->calls);
	buf_release(&g->answers);
}

void gateway_stop(struct gateway *g)
{
	if (!g->sb)
		return;
	/* Ignore a failure: the sandbox is gone then. */
	(void)sandbox_signal(g->sb, g->program, SIGKILL, NULL);
	gateway_forget(g);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void gateway_break(struct gateway *g)
{
	gateway_stop(g);
	g->is_broken = true;
}

void gateway_take_output(void *gateway, int slot, const char *data, size_t n)
{
	struct gateway *g = gateway;

	if (g->sb && slot == STREAM_PIPE_1)
		buf_add(&g->calls, data, n);
}

/* Moves *at behind the next line, of at most GATEWAY_LINE_MAX bytes, and ends the line by a NUL.
 * NULL: malformed. */
static char *gateway_line(char **at, const char *end)
{
	char *line = *at;
	size_t most = (size_t)(end - line) < GATEWAY_LINE_MAX ? (size_t)(end - line)
							      : GATEWAY_LINE_MAX;
	char *newline = memchr(line, '\n', most);

	if (!newline || memchr(line, '\0', (size_t)(newline - line)))
		return NULL;
	*newline = '\0';
	*at = newline + 1;
	return line;
}

/* Splits the bytes of a call in place. */
static bool gateway_split(char *text, size_t n, struct env_call *call)
{
	char *end = text + n;

	if (!n)
		return true;
	call->line = gateway_line(&text, end);
	call->key = call->line ? gateway_line(&text, end) : NULL;
	call->body = text;
	call->n_body = (size_t)(end - text);
	return call->key != NULL;
}

/* Reads the first message, the gateway's port. */
static bool gateway_read_port(struct gateway *g, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9' || g->port > UINT16_MAX)
			return false;
		g->port = 10 * g->port + text[i] - '0';
	}
	return g->port > 0 && g->port <= UINT16_MAX;
}

bool gateway_next(struct gateway *g, struct env_call *out)
{
	struct gateway_call_head head;
	bool ok;

	/* drop the message that the last call of this function gave */
	buf_consume(&g->calls, g->n_given);
	g->n_given = 0;
	if (!g->sb || g->calls.len < sizeof(head))
		return false;
	memcpy(&head, g->calls.data, sizeof(head));
	if (head.n > GATEWAY_CALL_MAX || g->calls.truncated) {
		gateway_break(g);
		return false;
	}
	if (g->calls.len - sizeof(head) < head.n)
		return false;
	g->n_given = sizeof(head) + head.n;
	*out = (struct env_call){ .id = head.id };
	if (!g->port)
		ok = !head.id && gateway_read_port(g, g->calls.data + sizeof(head), head.n);
	else
		ok = head.id && gateway_split(g->calls.data + sizeof(head), head.n, out);
	if (!ok)
		gateway_break(g);
	return ok;
}

/* --- answers ---------------------------------------------------------------------------------- */

void gateway_feed(struct gateway *g, bool hungry)
{
	size_t n = g->answers.len < SANDBOX_FEED_MAX ? g->answers.len : SANDBOX_FEED_MAX;

	g->is_hungry = g->is_hungry || hungry;
	if (!g->sb || !g->is_hungry || !n)
		return;
	g->is_hungry = false;
	if (sandbox_feed(g->sb, g->answers.data, n, NULL) < 0)
		gateway_break(g);
	else
		buf_consume(&g->answers, n);
}

void gateway_answer(struct gateway *g, const struct env_answer *answer)
{
	struct gateway_answer_head head = { .id = answer->id, .status = (uint32_t)answer->status };

	if (!g->sb)
		return;
	if (answer->n > GATEWAY_ANSWER_MAX ||
			answer->n + sizeof(head) > g->answers.cap - g->answers.len) {
		gateway_break(g);
		return;
	}
	head.n = (uint32_t)answer->n;
	buf_add(&g->answers, &head, sizeof(head));
	buf_add(&g->answers, answer->json, answer->n);
	gateway_feed(g, false);
}

int gateway_await(struct gateway *g, int64_t deadline_ns, struct fh_error *err)
{
	struct sandbox_event event;
	struct env_call none;

	do {
		sandbox_next_event(g->sb, &event);
		if (event.kind == SANDBOX_HUNGRY)
			gateway_feed(g, true);
		if (event.kind == SANDBOX_GONE || event.kind == SANDBOX_FAILED)
			return error_say(err, EPIPE, "the sandbox is gone");
	} while (event.kind != SANDBOX_NONE);
	if (gateway_next(g, &none))
		return 1;
	if (!g->is_broken && clock_now_ns() < deadline_ns)
		return 0;
	gateway_stop(g);
	return error_say(err, EPROTO, "the gateway of the agent's model did not start");
}

/* --- the agent's command ---------------------------------------------------------------------- */

static void gateway_add_quoted(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, "%s='", name);
	for (; *text; text++)
		if (*text == '\'')
			buf_add_str(out, "'\\''");
		else
			buf_add_char(out, *text);
	buf_add_str(out, "'\n");
}

void gateway_add_address(const struct gateway *g, struct buf *out)
{
	static const char *const urls[] = { "OPENAI_BASE_URL", "OPENAI_API_BASE",
		"ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE" };

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++)
		buf_printf(out, "export %s=http://127.0.0.1:%d%s\n", urls[i], g->port,
				str_starts(urls[i], "OPENAI") ? "/v1" : "");
}

void gateway_add_script(const struct env_agent *agent, struct buf *out)
{
	gateway_add_quoted(out, "export OPENAI_API_KEY", agent->key);
	gateway_add_quoted(out, "export ANTHROPIC_API_KEY", agent->key);
	gateway_add_quoted(out, "export FUMEHOOD_MODEL", agent->model);
	gateway_add_quoted(out, "FUMEHOOD_TASK", agent->task);
	buf_add_str(out,
			"export FUMEHOOD_TASK_FILE=" ENV_TASK_FILE "\n"
			"export " GUEST_SCORES_VARIABLE "=1\n"
			"printf '%s\\n' \"$FUMEHOOD_TASK\" >\"$FUMEHOOD_TASK_FILE\"\n");
	if (strlen(agent->task) < VARIABLE_BYTES_MAX)
		buf_add_str(out, "export FUMEHOOD_TASK\n");
	buf_add_str(out, agent->command);
}
