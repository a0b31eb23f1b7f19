/* SPDX-License-Identifier: Apache-2.0 */
#include "web/fetch.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "web/hosts.h"
#include "web/http.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

#define FETCH_TRIES 3
#define REDIRECTS 5
#define FETCH_PAUSE_MS 1000
/* most milliseconds that a busy server may ask to wait; if it asks for more, the fetch fails */
#define PAUSE_ASKED_MS_MAX 10000

struct fetch {
	TAILQ_ENTRY(fetch) link;
	uint64_t who;
	/* the owner freed the fetch, but a thread still looks up its server's name */
	bool is_left;
	/* this process is a fork: the fetch's sockets and threads belong to its parent */
	bool is_copied;
	struct http *http;
	struct http_call *call; /* HTTP request that is running; NULL: none */
	struct http_headers headers;
	char *hosts, *url;
	bool is_public; /* true: refuse servers with private addresses */
	int64_t timeout_ms;
	int tries, redirects;
	int64_t again_ns; /* clock_now_ns() at which the next try begins; INT64_MAX: none */
	struct buf body;
	bool over;
	struct fh_error failure;
};

/* --- list of all fetches of the process ------------------------------------------------------- */

static pthread_mutex_t fetches_lock = PTHREAD_MUTEX_INITIALIZER;
static TAILQ_HEAD(fetch_list, fetch) fetches = TAILQ_HEAD_INITIALIZER(
		fetches); /* list of all fetches; protected by fetches_lock */

static void fetches_before_fork(void)
{
	pthread_mutex_lock(&fetches_lock);
}

static void fetches_after_fork(void)
{
	pthread_mutex_unlock(&fetches_lock);
}

static void fetches_in_child(void)
{
	struct fetch *next;

	for (struct fetch *f = TAILQ_FIRST(&fetches); f; f = next) {
		next = TAILQ_NEXT(f, link);
		f->is_copied = true;
		if (!f->is_left)
			continue;
		TAILQ_REMOVE(&fetches, f, link);
		free(f);
	}
	pthread_mutex_unlock(&fetches_lock);
}

static void fetches_watch_forks(void)
{
	pthread_atfork(fetches_before_fork, fetches_after_fork, fetches_in_child);
}

/* Frees fetches that their owners gave up and whose name lookups have ended. Returns the number of
 * all other fetches, and in *out_of_who the number of those with the same `who`. The caller holds
 * fetches_lock. */
static int fetches_count(uint64_t who, int *out_of_who)
{
	struct fetch *next;
	int n = 0;

	*out_of_who = 0;
	for (struct fetch *f = TAILQ_FIRST(&fetches); f; f = next) {
		next = TAILQ_NEXT(f, link);
		if (f->is_left)
			http_advance(f->http);
		if (!f->is_left || http_is_asking(f->http)) {
			n++;
			*out_of_who += f->who == who;
			continue;
		}
		TAILQ_REMOVE(&fetches, f, link);
		http_close(f->http);
		free(f);
	}
	return n;
}

/* Adds a new fetch to the process' list. -EBUSY: too many fetches are running. */
static int fetch_enter(uint64_t who, struct fetch **out, struct fh_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int r = 0, n, n_of_who;

	pthread_once(&once, fetches_watch_forks);
	pthread_mutex_lock(&fetches_lock);
	n = fetches_count(who, &n_of_who);
	if (n_of_who >= FETCHES_OF_ONE_MAX) {
		r = error_say(err, EBUSY,
				"%d earlier requests of this episode still wait for a name server: try "
				"again in a minute",
				n_of_who);
	} else if (n >= FETCHES_MAX) {
		r = error_say(err, EBUSY,
				"%d requests are running, the limit: try again in a minute", n);
	} else {
		*out = xcalloc(1, sizeof(**out));
		(*out)->who = who;
		TAILQ_INSERT_TAIL(&fetches, *out, link);
	}
	pthread_mutex_unlock(&fetches_lock);
	return r;
}

bool fetch_has_room(void)
{
	int n, unused;

	pthread_mutex_lock(&fetches_lock);
	n = fetches_count(0, &unused);
	pthread_mutex_unlock(&fetches_lock);
	return n < FETCHES_MAX;
}

/* --- tries ------------------------------------------------------------------------------------ */

static int fetch_take_url(struct fetch *f, const char *url, struct fh_error *err)
{
	struct http_url parts;
	int r = http_url_parse(url, &parts, err);

	if (r < 0)
		return r;
	if (hosts_allow(f->hosts, parts.scheme, parts.host, parts.port)) {
		free(f->url);
		f->url = take_ptr(parts.whole);
		f->is_public = !hosts_allow_private(f->hosts, parts.scheme, parts.host, parts.port);
	} else {
		r = error_say(err, EACCES, "%s://%s:%s is not an allowed site", parts.scheme,
				parts.host, parts.port);
	}
	http_url_release(&parts);
	return r;
}

static void fetch_on_end(void *user, const struct http_end *end)
{
	struct fetch *f = user;
	bool is_redirect = end->status >= 301 && end->status <= 308 && end->status != 304 &&
			end->location;
	bool is_busy = end->error == HTTP_BROKEN || end->status == 429 || end->status >= 500;
	int64_t pause_ms = end->retry_after_ms > FETCH_PAUSE_MS ? end->retry_after_ms
								: FETCH_PAUSE_MS * f->tries;

	f->call = NULL;
	if (end->error == HTTP_ANSWERED && end->status == 200) {
		f->over = true;
	} else if (end->error == HTTP_ANSWERED && is_redirect) {
		/* Drop the request's header with the API key: the redirect may lead to another
		 * server. */
		http_headers_release(&f->headers);
		f->tries = 0;
		if (++f->redirects > REDIRECTS)
			error_say(&f->failure, EIO, "too many redirects");
		else if (fetch_take_url(f, end->location, &f->failure) == 0)
			f->again_ns = 0;
	} else if (is_busy && pause_ms > PAUSE_ASKED_MS_MAX) {
		error_say(&f->failure, EIO,
				"the server answered with status %d, and asks for a pause of %lld s",
				end->status, (long long)pause_ms / 1000);
	} else if (is_busy && f->tries < FETCH_TRIES) {
		f->again_ns = clock_now_ns() + pause_ms * NS_PER_MS;
	} else if (end->error == HTTP_ANSWERED) {
		error_say(&f->failure, EIO, "the server answered with status %d%s", end->status,
				end->status == 429 ? ": too many requests" : "");
	} else if (end->error == HTTP_REFUSED) {
		error_say(&f->failure, EFBIG, "the document is larger than %zu MiB",
				f->body.cap >> 20);
	} else {
		error_say(&f->failure, end->error == HTTP_TIMEOUT ? ETIMEDOUT : EIO, "%s",
				end->sentence);
	}
	f->over = f->over || f->failure.code < 0;
}

static bool fetch_on_data(void *user, const char *data, size_t n)
{
	struct fetch *f = user;

	buf_add(&f->body, data, n);
	return !f->body.truncated;
}

static void fetch_try(struct fetch *f)
{
	const struct http_request request = {
		.url = f->url,
		.headers = &f->headers,
		.timeout_ms = f->timeout_ms,
		.is_public = f->is_public,
		.user = f,
		.data = fetch_on_data,
		.end = fetch_on_end,
	};

	f->again_ns = INT64_MAX;
	f->tries++;
	buf_clear(&f->body);
	f->body.truncated = false;
	f->over = http_start(f->http, &request, &f->call, &f->failure) < 0;
}

/* --- interface -------------------------------------------------------------------------------- */

static void scope_fetch(struct fetch **f)
{
	fetch_free(*f);
}

int fetch_begin(const struct fetch_request *request, struct fetch **out, struct fh_error *err)
{
	__attribute__((cleanup(scope_fetch))) struct fetch *f = NULL;
	int r = fetch_enter(request->who, &f, err);

	if (r < 0)
		return r;
	f->hosts = request->hosts ? xstrdup(request->hosts) : NULL;
	f->timeout_ms = request->timeout_ms;
	buf_init(&f->body, request->bytes_max);
	r = http_open(&f->http, err);
	if (r < 0)
		return r;
	r = fetch_take_url(f, request->url, err);
	if (r < 0)
		return r;
	if (request->key)
		http_headers_add(&f->headers, request->key_header, "", request->key);
	fetch_try(f);
	*out = take_ptr(f);
	return 0;
}

void fetch_free(struct fetch *f)
{
	bool is_left;

	if (!f)
		return;
	if (f->call && !f->is_copied)
		http_cancel(f->call);
	http_headers_release(&f->headers);
	free(f->hosts);
	free(f->url);
	buf_release(&f->body);
	is_left = f->http && !f->is_copied && http_is_asking(f->http);
	pthread_mutex_lock(&fetches_lock);
	f->is_left = is_left;
	if (!is_left)
		TAILQ_REMOVE(&fetches, f, link);
	pthread_mutex_unlock(&fetches_lock);
	if (is_left)
		/* fetches_count() frees the fetch when the lookup of its server's name has ended */
		return;
	if (!f->is_copied)
		http_close(f->http);
	free(f);
}

int fetch_fd(const struct fetch *f)
{
	return http_fd(f->http);
}

void fetch_waits(const struct fetch *f, struct waits *w)
{
	if (f->over)
		waits_until(w, 0);
	else if (f->call)
		waits_add(w, http_fd(f->http), POLLIN);
	else
		waits_until(w, f->again_ns);
}

bool fetch_advance(struct fetch *f)
{
	if (f->call)
		http_advance(f->http);
	if (!f->over && !f->call && clock_now_ns() >= f->again_ns)
		fetch_try(f);
	return f->over;
}

size_t fetch_received(const struct fetch *f)
{
	return f->body.len;
}

int fetch_result(const struct fetch *f, const struct buf **out_body, struct fh_error *err)
{
	if (f->failure.code < 0) {
		*err = f->failure;
		return f->failure.code;
	}
	*out_body = &f->body;
	return 0;
}
