/* SPDX-License-Identifier: Apache-2.0 */
#include "env/calls.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/hide.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/env.h"
#include "web/fetch.h"
#include "web/papers.h"

#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES_MAX (16 << 20)
#define EPISODE_BYTES_MAX                                                                          \
	(128 << 20) /* of answers: the porter writes them, whose memory is not the episode's */
#define PAUSE_MS 50 /* between two calls: an agent's loop must not keep the owner busy */
#define TIMEOUT_MS 60000
#define ROOM_MS 60000  /* before a call that waits for others' is refused */
#define FAILURES_MAX 3 /* it may be the machine's fault, which passes, or the agent's */

/* --- services --------------------------------------------------------------------------------- */

struct call_service {
	const char *name;
	int (*begin)(struct fh_env *env, const char *text, struct fh_error *err);
	/* NULL: what came is the answer. */
	int (*answer)(const struct call *call, const struct buf *body, struct buf *out,
			struct fh_error *err);
};

static int begin_fetch(struct fh_env *env, const char *url, const char *key, struct fh_error *err)
{
	if (!env->web_hosts)
		return error_say(err, EACCES, "this episode has no access to the web");
	if (env->call.n_bytes > EPISODE_BYTES_MAX - ANSWER_BYTES_MAX)
		return error_say(err, EDQUOT, "this episode has read as much of the web as it may");
	return fetch_begin(
			&(struct fetch_request){
					.who = env->call.who,
					.hosts = env->web_hosts,
					.url = url,
					.key_header = "x-api-key",
					.key = key,
					.bytes_max = ANSWER_BYTES_MAX,
					.timeout_ms = TIMEOUT_MS,
			},
			&env->call.fetch, err);
}

static int begin_document(struct fh_env *env, const char *text, struct fh_error *err)
{
	return begin_fetch(env, text, NULL, err);
}

/* "N TERM" */
static int begin_papers(struct fh_env *env, const char *text, struct fh_error *err)
{
	auto_buf struct buf url = BUF_INIT(4 * CALL_BYTES_MAX);
	char *rest;
	unsigned long most = strtoul(text, &rest, 10);

	if (*rest != ' ' || !rest[1] || most < 1 || most > PAPERS_MOST)
		return error_say(err, EINVAL, "a search needs a term, and asks for 1 to %d papers",
				PAPERS_MOST);
	env->call.most = most;
	papers_add_url(&url, rest + 1, most);
	return begin_fetch(env, buf_str(&url), papers_key(), err);
}

static int answer_papers(const struct call *call, const struct buf *body, struct buf *out,
		struct fh_error *err)
{
	return papers_add_lines(out, buf_str(body), body->len, call->most, err);
}

static const struct call_service services[] = {
	{ "document", begin_document, NULL },
	{ "papers", begin_papers, answer_papers },
};

static const struct call_service *find_service(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		if (str_eq(services[i].name, name))
			return &services[i];
	return NULL;
}

/* --- files ------------------------------------------------------------------------------------ */

static bool is_id(const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]))
			return false;
	return n > 0 && n <= CALL_ID_MAX;
}

bool call_split(char *call, char **out_id, char **out_text)
{
	char *line = strchr(call, '\n');
	char *space = strchr(call, ' ');

	if (!line || !space || space > line)
		return false;
	*line = *space = '\0';
	*out_id = space + 1;
	*out_text = line + 1;
	return is_id(*out_id);
}

static bool failed(struct call *call)
{
	call->next_ns = clock_now_ns() + PAUSE_MS * NS_PER_MS;
	return ++call->failures >= FAILURES_MAX;
}

/* If it can't be put, the tool hears nothing, and gives up in time. */
static void put_failed(struct call *call)
{
	if (failed(call))
		buf_release(&call->unsaid);
}

static void put_unsaid(struct fh_env *env)
{
	struct call *call = &env->call;
	struct buf *text = &call->unsaid;

	if (sandbox_put_text_begin(env->sb, GUEST_HOME, GUEST_ANSWER, buf_str(text), text->len,
			    0600, &call->putting, NULL) < 0)
		put_failed(call);
}

static void put_over(struct fh_env *env)
{
	struct sandbox_answer answer = { .fd = -1 };

	env->call.putting = 0;
	if (sandbox_take(env->sb, &answer, NULL) < 0)
		put_failed(&env->call);
	else
		buf_release(&env->call.unsaid);
}

static void set_unsaid(struct call *call, const char *word, const struct buf *said)
{
	struct buf *text = &call->unsaid;

	buf_release(text);
	buf_init(text, ANSWER_BYTES_MAX + FH_ERROR_MESSAGE_MAX);
	buf_printf(text, "%s %s %zu\n", call->id, word, said->len);
	buf_add(text, buf_str(said), said->len);
}

static void put_answer(
		struct fh_env *env, int r, const struct buf *body, const struct fh_error *err)
{
	auto_buf struct buf said = BUF_INIT(ANSWER_BYTES_MAX);
	struct call *call = &env->call;

	if (r < 0)
		buf_add_str(&said, err->message);
	else
		buf_add(&said, buf_str(body), body->len);
	hide_secret(&said, papers_key()); /* a server may repeat it */
	set_unsaid(call, r < 0 ? "no" : "ok", &said);
	if (said.truncated || call->unsaid.truncated) {
		buf_clear(&said);
		buf_add_str(&said, "there is no memory for the answer");
		set_unsaid(call, "no", &said);
	}
	call->n_bytes += (int64_t)call->unsaid.len;
	call->failures = 0;
	if (!call->reading) /* else in its turn */
		put_unsaid(env);
}

/* --- a call ----------------------------------------------------------------------------------- */

static void end(struct fh_env *env)
{
	poller_unwatch_fd(&env->gym->poller, fetch_fd(env->call.fetch));
	fetch_free(take_ptr(env->call.fetch));
	env->call.service = NULL;
}

/* Nobody waits for its answer; what has come of it counts. */
static void abandon(struct fh_env *env)
{
	env->call.n_bytes += (int64_t)fetch_received(env->call.fetch);
	end(env);
}

/* Looks at what a tool asks. */
static void begin(struct fh_env *env)
{
	struct call *call = &env->call;

	call->next_ns = clock_now_ns() + PAUSE_MS * NS_PER_MS;
	if (!call->service && !fetch_has_room() && clock_now_ns() < call->room_ns)
		return;
	call->asked = false;
	/* Before the call is read, so that the next one is told. */
	if (sandbox_clear_requests(env->sb, NULL) < 0 ||
			sandbox_get_begin(env->sb, GUEST_HOME, GUEST_CALL, CALL_BYTES_MAX,
					&call->reading, NULL) < 0)
		call->asked = !failed(call);
}

/* A tool has one call at a time: who makes another one was ended while it waited for the one before. */
static void serve(struct fh_env *env, char *text)
{
	const struct call_service *service;
	struct fh_error err = FH_ERROR_INIT;
	char *id, *about;
	int r;

	if (!call_split(text, &id, &about) || str_eq(id, env->call.id)) /* it was told twice */
		return;
	if (env->call.service)
		abandon(env);
	snprintf(env->call.id, sizeof(env->call.id), "%s", id);
	service = find_service(text);
	if (service)
		r = service->begin(env, about, &err);
	else
		r = error_say(&err, ENOSYS, "there is no such service");
	if (r < 0)
		put_answer(env, r, NULL, &err);
	else
		env->call.service = service;
}

static void read_over(struct fh_env *env)
{
	auto_buf struct buf text = BUF_INIT(CALL_BYTES_MAX);
	struct sandbox_answer answer = { .fd = -1 };
	int r;

	env->call.reading = 0;
	r = sandbox_take(env->sb, &answer, NULL);
	if (r == 0)
		r = fd_read_all(answer.fd, &text);
	close_fd(&answer.fd);
	if (r < 0 || text.truncated)
		env->call.asked = !failed(&env->call) || env->call.asked;
	else if (text.len)
		serve(env, text.data);
}

static void answer(struct fh_env *env)
{
	auto_buf struct buf out = BUF_INIT(ANSWER_BYTES_MAX);
	const struct buf *body = NULL;
	struct fh_error err = FH_ERROR_INIT;
	int r = fetch_result(env->call.fetch, &body, &err);

	if (r == 0 && env->call.service->answer) {
		r = env->call.service->answer(&env->call, body, &out, &err);
		body = &out;
	}
	put_answer(env, r, body, &err);
	end(env);
}

void calls_begin(struct fh_env *env)
{
	static atomic_ullong n_episodes;

	env->call.n_bytes = 0;
	env->call.who = atomic_fetch_add(&n_episodes, 1) + 1;
}

void calls_advance(struct fh_env *env, bool asked)
{
	struct call *call = &env->call;

	if (asked) {
		if (!call->asked)
			call->room_ns = clock_now_ns() + ROOM_MS * NS_PER_MS;
		call->asked = true;
		call->failures = 0;
	}
	if (call->service && fetch_advance(call->fetch))
		answer(env);
	if (call->reading && sandbox_answered(env->sb, call->reading))
		read_over(env);
	if (call->putting && sandbox_answered(env->sb, call->putting))
		put_over(env);
	if (call->reading || call->putting || clock_now_ns() < call->next_ns)
		return;
	if (call->unsaid.len)
		put_unsaid(env);
	else if (call->asked)
		begin(env);
}

void calls_waits(const struct fh_env *env, struct waits *w)
{
	if (env->call.service)
		fetch_waits(env->call.fetch, w);
	if (env->call.reading || env->call.putting)
		return; /* the session waits for all that comes */
	if (env->call.asked || env->call.unsaid.len)
		waits_until(w, env->call.next_ns);
}

void calls_drop(struct fh_env *env)
{
	if (env->call.service)
		abandon(env);
	if (env->call.asked) /* or the next one would not be told */
		(void)sandbox_clear_requests(env->sb, NULL);
	env->call.asked = false;
	env->call.reading = env->call.putting = 0;
	buf_release(&env->call.unsaid);
}
