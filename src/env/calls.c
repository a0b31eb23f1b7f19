/* SPDX-License-Identifier: Apache-2.0 */
#include "env/calls.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/hide.h"
#include "base/scope.h"
#include "base/str.h"
#include "web/fetch.h"
#include "web/papers.h"

#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_ANSWER_BYTES_MAX (16 << 20)
#define EPISODE_BYTES_MAX (128 << 20) /* most bytes of answers to calls in an episode */
/* Least time in ms between two calls of an agent's tools. So a loop of calls does not keep this
 * process busy. */
#define CALLS_PAUSE_MS 50
#define TIMEOUT_MS 60000
/* A call that has waited this long (ms) for fetches of other episodes to end is refused. */
#define ROOM_MS 60000
/*
 * most tries to read a call or to write its answer; failures may be temporary, or caused by the
 * agent
 */
#define FAILURES_MAX 3

/* --- services --------------------------------------------------------------------------------- */

struct call_service {
	const char *name;
	int (*begin)(struct calls *c, const char *text, struct fh_error *err);
	/* Converts the fetched document to the answer for the tool. NULL: the document is the
	 * answer. */
	int (*answer)(const struct calls *c, const struct buf *body, struct buf *out,
			struct fh_error *err);
};

static int calls_fetch(struct calls *c, const char *url, const char *key, struct fh_error *err)
{
	if (!c->web_hosts)
		return error_say(err, EACCES, "this episode has no access to the web");
	if (c->n_bytes > EPISODE_BYTES_MAX - CALLS_ANSWER_BYTES_MAX)
		return error_say(err, EDQUOT,
				"this episode has reached its limit of bytes from the web");
	return fetch_begin(
			&(struct fetch_request){
					.who = c->who,
					.hosts = c->web_hosts,
					.url = url,
					.key_header = "x-api-key",
					.key = key,
					.bytes_max = CALLS_ANSWER_BYTES_MAX,
					.timeout_ms = TIMEOUT_MS,
			},
			&c->fetch, err);
}

static int calls_begin_document(struct calls *c, const char *text, struct fh_error *err)
{
	return calls_fetch(c, text, NULL, err);
}

/* Begins a search for papers. The text is "N TERM". */
static int calls_begin_papers(struct calls *c, const char *text, struct fh_error *err)
{
	auto_buf struct buf url = BUF_INIT(4 * CALL_BYTES_MAX);
	char *rest;
	unsigned long most = strtoul(text, &rest, 10);

	if (*rest != ' ' || !rest[1] || most < 1 || most > PAPERS_MOST)
		return error_say(err, EINVAL, "a search needs a term, and asks for 1 to %d papers",
				PAPERS_MOST);
	c->most = most;
	papers_add_url(&url, rest + 1, most);
	return calls_fetch(c, buf_str(&url), papers_key(), err);
}

static int calls_answer_papers(const struct calls *c, const struct buf *body, struct buf *out,
		struct fh_error *err)
{
	return papers_add_lines(out, buf_str(body), body->len, c->most, err);
}

/* Begins the service `validate`. The environment scores, then calls calls_answer_validate(). */
static int calls_begin_validate(struct calls *c, const char *text, struct fh_error *err)
{
	if (!c->validates)
		return error_say(err, ENOSYS,
				"this episode can't score while a command runs, only after it");
	c->wants_validate = true;
	return 0;
}

static const struct call_service services[] = {
	{ "validate", calls_begin_validate, NULL },
	{ "document", calls_begin_document, NULL },
	{ "papers", calls_begin_papers, calls_answer_papers },
};

/* --- files ------------------------------------------------------------------------------------ */

bool call_split(char *call, char **out_id, char **out_text)
{
	char *line = strchr(call, '\n');
	char *space = strchr(call, ' ');
	size_t n = 0;

	if (!line || !space || space > line)
		return false;
	*line = *space = '\0';
	*out_id = space + 1;
	*out_text = line + 1;
	while (isalnum((unsigned char)(*out_id)[n]))
		n++;
	return n > 0 && n <= CALL_ID_MAX && !(*out_id)[n];
}

/* Counts a failure to read a call or to write its answer. True: too many, so give up. */
static bool calls_failed(struct calls *c)
{
	c->next_ns = clock_now_ns() + CALLS_PAUSE_MS * NS_PER_MS;
	return ++c->failures >= FAILURES_MAX;
}

/* Handles a failure to write an answer. calls_advance() tries again later. After FAILURES_MAX
 * failures the answer is dropped, and the agent's tool ends by its own timeout. */
static void calls_put_failed(struct calls *c)
{
	if (calls_failed(c))
		buf_release(&c->unsaid);
}

static void calls_put(struct calls *c, struct sandbox *sb)
{
	if (sandbox_put_text_begin(sb, GUEST_HOME, GUEST_ANSWER, buf_str(&c->unsaid), c->unsaid.len,
			    0600, &c->putting, NULL) < 0)
		calls_put_failed(c);
}

static void calls_put_over(struct calls *c, struct sandbox *sb)
{
	struct sandbox_answer answer = { .fd = -1 };

	c->putting = 0;
	if (sandbox_take(sb, &answer, NULL) < 0)
		calls_put_failed(c);
	else
		buf_release(&c->unsaid);
}

static void calls_set_unsaid(struct calls *c, const char *word, const struct buf *said)
{
	struct buf *text = &c->unsaid;

	buf_release(text);
	buf_init(text, CALLS_ANSWER_BYTES_MAX + FH_ERROR_MESSAGE_MAX);
	buf_printf(text, "%s %s %zu\n", c->id, word, said->len);
	buf_add(text, buf_str(said), said->len);
}

/* Answers a tool's call. If r is 0, the answer is `body`, else the message of *err. */
static void calls_say(struct calls *c, struct sandbox *sb, int r, const struct buf *body,
		const struct fh_error *err)
{
	auto_buf struct buf said = BUF_INIT(CALLS_ANSWER_BYTES_MAX);

	if (r < 0)
		buf_add_str(&said, err->message);
	else
		buf_add(&said, buf_str(body), body->len);
	hide_secret(&said, papers_key()); /* a server may repeat Fumehood's API key in its answer */
	calls_set_unsaid(c, r < 0 ? "no" : "ok", &said);
	if (said.truncated || c->unsaid.truncated) {
		buf_clear(&said);
		buf_add_str(&said, "there is no memory for the answer");
		calls_set_unsaid(c, "no", &said);
	}
	c->n_bytes += (int64_t)c->unsaid.len;
	c->failures = 0;
	/* while the sandbox reads a call, wait: calls_advance() writes the answer later */
	if (!c->reading)
		calls_put(c, sb);
}

/* --- a call ----------------------------------------------------------------------------------- */

static void calls_end(struct calls *c)
{
	if (c->fetch)
		poller_unwatch(c->poller, fetch_fd(c->fetch));
	fetch_free(take_ptr(c->fetch));
	c->service = NULL;
	c->wants_validate = false;
}

/* Ends a call whose tool was killed. Counts the bytes that the fetch has received. */
static void calls_abandon(struct calls *c)
{
	if (c->fetch)
		c->n_bytes += (int64_t)fetch_received(c->fetch);
	calls_end(c);
}

/* Has the sandbox read the file GUEST_CALL, which holds a tool's call. */
static void calls_read(struct calls *c, struct sandbox *sb)
{
	c->next_ns = clock_now_ns() + CALLS_PAUSE_MS * NS_PER_MS;
	if (!c->service && !fetch_has_room() && clock_now_ns() < c->room_ns)
		return;
	c->asked = false;
	/* Clear the request before the call is read, so that a later call is noticed. */
	if (sandbox_clear_requests(sb, NULL) < 0 ||
			sandbox_get_begin(sb, GUEST_HOME, GUEST_CALL, CALL_BYTES_MAX, &c->reading,
					NULL) < 0)
		c->asked = !calls_failed(c);
}

/*
 * Begins a call. A tool makes one call at a time: if another call comes, the first one's tool was
 * killed.
 */
static void calls_serve(struct calls *c, struct sandbox *sb, char *text)
{
	const struct call_service *service = NULL;
	struct fh_error err = FH_ERROR_INIT;
	char *id, *about;
	int r;

	/* ignore a malformed call, and a call that was read before */
	if (!call_split(text, &id, &about) || str_eq(id, c->id))
		return;
	if (c->service)
		calls_abandon(c);
	snprintf(c->id, sizeof(c->id), "%s", id);
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		if (str_eq(services[i].name, text))
			service = &services[i];
	if (service)
		r = service->begin(c, about, &err);
	else
		r = error_say(&err, ENOSYS, "there is no such service");
	if (r < 0)
		calls_say(c, sb, r, NULL, &err);
	else
		c->service = service;
}

static int calls_take_text(struct sandbox *sb, struct buf *text)
{
	struct sandbox_answer answer = { .fd = -1 };
	int r = sandbox_take(sb, &answer, NULL);

	if (r < 0)
		return r;
	r = fd_read_all(answer.fd, text);
	close_fd(&answer.fd);
	return r;
}

static void calls_read_over(struct calls *c, struct sandbox *sb)
{
	auto_buf struct buf text = BUF_INIT(CALL_BYTES_MAX);

	c->reading = 0;
	if (calls_take_text(sb, &text) < 0 || text.truncated)
		c->asked = !calls_failed(c) || c->asked;
	else if (text.len)
		calls_serve(c, sb, text.data);
}

/* Sets *out to the text to answer a call with: the fetched document. If the service converts
 * documents, it is the converted text, which is written to `room`. */
static int calls_body(const struct calls *c, struct buf *room, const struct buf **out,
		struct fh_error *err)
{
	const struct buf *body = NULL;
	int r = fetch_result(c->fetch, &body, err);

	if (r < 0)
		return r;
	if (c->service->answer) {
		r = c->service->answer(c, body, room, err);
		if (r < 0)
			return r;
		body = room;
	}
	*out = body;
	return 0;
}

static void calls_answer(struct calls *c, struct sandbox *sb)
{
	auto_buf struct buf room = BUF_INIT(CALLS_ANSWER_BYTES_MAX);
	const struct buf *body = NULL;
	struct fh_error err = FH_ERROR_INIT;
	int r = calls_body(c, &room, &body, &err);

	calls_say(c, sb, r, body, &err);
	calls_end(c);
}

bool calls_take_validate(struct calls *c)
{
	bool wants = c->wants_validate && !c->reading && !c->putting;

	if (wants)
		c->wants_validate = false;
	return wants;
}

void calls_answer_validate(
		struct calls *c, struct sandbox *sb, const struct buf *text, bool is_scored)
{
	struct fh_error why;

	if (!c->service || c->service->begin != calls_begin_validate)
		return; /* the tool that asked was killed, and another call is served now */
	error_say(&why, EACCES, "%s", buf_str(text));
	calls_say(c, sb, is_scored ? 0 : why.code, text, &why);
	calls_end(c);
}

void calls_begin(struct calls *c)
{
	static atomic_ullong n_episodes;

	c->n_bytes = 0;
	c->validates = false;
	c->who = atomic_fetch_add(&n_episodes, 1) + 1;
}

void calls_advance(struct calls *c, struct sandbox *sb, bool asked)
{
	if (asked) {
		if (!c->asked)
			c->room_ns = clock_now_ns() + ROOM_MS * NS_PER_MS;
		c->asked = true;
		c->failures = 0;
	}
	if (c->fetch && fetch_advance(c->fetch))
		calls_answer(c, sb);
	if (c->reading && sandbox_answered(sb, c->reading))
		calls_read_over(c, sb);
	if (c->putting && sandbox_answered(sb, c->putting))
		calls_put_over(c, sb);
	if (c->reading || c->putting || clock_now_ns() < c->next_ns)
		return;
	if (c->unsaid.len)
		calls_put(c, sb);
	else if (c->asked)
		calls_read(c, sb);
}

void calls_waits(const struct calls *c, struct waits *w)
{
	if (c->fetch)
		fetch_waits(c->fetch, w);
	if (c->reading || c->putting)
		return; /* the shell session waits for the sandbox' reply already */
	if (c->asked || c->unsaid.len)
		waits_until(w, c->next_ns);
}

void calls_drop(struct calls *c, struct sandbox *sb)
{
	if (c->service)
		calls_abandon(c);
	if (c->asked) /* clear the request, or a later call would not be noticed */
		(void)sandbox_clear_requests(sb, NULL);
	c->asked = false;
	c->reading = c->putting = 0;
	buf_release(&c->unsaid);
}
