/* SPDX-License-Identifier: Apache-2.0 */
#include "data/transfer.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "data/part.h"
#include "web/http.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define TRANSFER_TRIES 4 /* most tries in a row that bring nothing new */
#define REDIRECTS_MAX 10
#define TRANSFER_PAUSE_MS 500
#define PAUSE_MS_MAX 60000
#define TICK_MS 100
#define LONG_MS (30LL * 86400 * 1000)
#define TRANSFER_FILE_BYTES_MAX (1LL << 42)
#define OTHER_BYTES_MAX 65536 /* most bytes of an answer that is not the file */

/* A request to a server, which may be tried again, and the answer to the last try. */
struct ask {
	const struct transfer *t;
	const char *url;
	bool head, hub;
	/* result of transfer_look(); NULL for a request with the method HEAD */
	const struct transfer_look *look;
	/* file to write the answer to; NULL for a request with the method HEAD */
	struct part *part;
	struct http_call *call;
	bool over, begun;
	int64_t other_bytes;
	enum http_error error;
	char sentence[256]; /* reason of the failure, from libcurl or the server */
	int status;
	int64_t pause_ms; /* pause that the server asks for; -1: none */
	char *location;
	struct transfer_look seen;
	/* error that ask_on_data() found; code 0: none; -EAGAIN: try the request again */
	struct fh_error failure;
};

/* --- headers ---------------------------------------------------------------------------------- */

bool transfer_read_range(const char *text, int64_t *out_begin, int64_t *out_size)
{
	char begin[24], end[24], size[24];
	int64_t first, last, whole = -1;

	if (sscanf(text, "bytes %23[0-9]-%23[0-9]/%23[0-9*]", begin, end, size) != 3)
		return false;
	if (!str_to_i64(begin, &first) || !str_to_i64(end, &last) || last < first)
		return false;
	if (!str_eq(size, "*") && (!str_to_i64(size, &whole) || whole <= last))
		return false;
	*out_begin = first;
	*out_size = whole;
	return true;
}

bool transfer_read_etag(const char *text, char *out, size_t n)
{
	size_t len = strlen(text);

	if (len >= 2 && text[0] == '"' && text[len - 1] == '"') {
		text++;
		len -= 2;
	}
	if (!len || len >= n || str_starts(text, "W/"))
		return false;
	snprintf(out, n, "%.*s", (int)len, text);
	return true;
}

/* Writes a text that identifies the content: a strong ETag, else a date. */
static void ask_read_validator(const struct ask *a, char *out, size_t n)
{
	const char *etag = http_header(a->call, "etag");
	const char *date;

	if (etag && transfer_read_etag(etag, out, n))
		return;
	date = http_header(a->call, "last-modified");
	if (date && strlen(date) < n)
		snprintf(out, n, "%s", date);
}

static void ask_read_headers(struct ask *a)
{
	struct transfer_look *seen = &a->seen;
	const char *etag = http_header(a->call, "x-linked-etag");
	char linked[SHA256_HEX_BYTES + 8];
	const char *value;

	if (etag && transfer_read_etag(etag, linked, sizeof(linked)) &&
			strspn(linked, "0123456789abcdef") == SHA256_HEX_BYTES - 1)
		snprintf(seen->sha256, sizeof(seen->sha256), "%s", linked);
	value = http_header(a->call, "x-repo-commit");
	if (value && !*seen->commit && strlen(value) < sizeof(seen->commit))
		snprintf(seen->commit, sizeof(seen->commit), "%s", value);
	value = http_header(a->call, "x-linked-size");
	if (!value && a->status == 200)
		value = http_header(a->call, "content-length");
	if (value)
		str_to_i64(value, &seen->size_bytes);
	if (a->status == 200)
		ask_read_validator(a, seen->validator, sizeof(seen->validator));
}

/* --- one request ------------------------------------------------------------------------------ */

/* Checks the headers of an answer that should be the file, or the rest of it. -EAGAIN: the file has
 * changed on the server. */
static int ask_begin_body(struct ask *a)
{
	const char *range = http_header(a->call, "content-range");
	int64_t begin = 0, size = -1;
	char validator[256] = "";

	a->begun = true;
	if (a->status == 200)
		return a->part->done ? part_restart(a->part, &a->failure) : 0;
	if (!a->hub)
		ask_read_validator(a, validator, sizeof(validator));
	if (!range || !transfer_read_range(range, &begin, &size) || begin != a->part->done ||
			(size >= 0 && a->look->size_bytes >= 0 && size != a->look->size_bytes) ||
			(*validator && !str_eq(validator, a->look->validator))) {
		part_restart(a->part, NULL);
		return error_say(&a->failure, EAGAIN,
				"the file changed on the server meanwhile: fetch it again");
	}
	a->part->is_continued = true;
	return 0;
}

static bool ask_on_data(void *user, const char *data, size_t n)
{
	struct ask *a = user;
	int64_t most;

	a->status = http_status(a->call);
	if (a->head || (a->status != 200 && a->status != 206)) {
		a->other_bytes += (int64_t)n;
		return a->other_bytes <= OTHER_BYTES_MAX;
	}
	if (!a->begun && ask_begin_body(a) < 0)
		return false;
	most = a->look->size_bytes >= 0 ? a->look->size_bytes : TRANSFER_FILE_BYTES_MAX;
	if (a->part->done + (int64_t)n > most) {
		a->part->keep = false;
		error_say(&a->failure, EIO,
				"the server sends more than the file's %lld bytes: nothing is kept",
				(long long)most);
		return false;
	}
	return part_add(a->part, data, n, &a->failure) == 0;
}

static void ask_on_end(void *user, const struct http_end *end)
{
	struct ask *a = user;
	const char *why = http_header(a->call, "x-error-message");

	a->over = true;
	a->error = end->error;
	a->status = end->status;
	a->pause_ms = end->retry_after_ms;
	why = *end->sentence ? end->sentence : why;
	snprintf(a->sentence, sizeof(a->sentence), "%s", why ? why : "");
	free(a->location);
	a->location = end->location && end->status >= 300 && end->status < 400
			? xstrdup(end->location)
			: NULL;
	if (a->head)
		ask_read_headers(a);
}

/* Waits for a descriptor, at most timeout_ms. -ECANCELED: the user wants to stop. */
static int transfer_wait(const struct transfer *t, int fd, int64_t timeout_ms, struct fh_error *err)
{
	struct pollfd fds[] = { { .fd = t->cancel_fd, .events = POLLIN },
		{ .fd = fd, .events = POLLIN } };

	if (poll(fds, 2, (int)timeout_ms) > 0 && fds[0].revents)
		return error_say(err, ECANCELED, "interrupted");
	return 0;
}

static int ask_wait(struct ask *a, struct fh_error *err)
{
	const struct transfer *t = a->t;

	while (!a->over) {
		int r;

		if (a->part && t->progress)
			t->progress(t->user, path_basename(a->part->target), a->part->done,
					a->look->size_bytes);
		r = transfer_wait(t, http_fd(t->http), TICK_MS, err);
		if (r < 0) {
			http_cancel(a->call);
			return r;
		}
		http_advance(t->http);
	}
	return 0;
}

static int ask_once(struct ask *a, const char *url, bool with_token, struct fh_error *err)
{
	const struct transfer *t = a->t;
	auto_http_headers struct http_headers headers = { NULL };
	struct http_request request = { .url = url,
		.headers = &headers,
		.head = a->head,
		.timeout_ms = a->head ? t->stall_ms : LONG_MS,
		.stall_ms = t->stall_ms,
		.user = a,
		.data = ask_on_data,
		.end = ask_on_end };
	char range[32];
	int r;

	if (with_token)
		http_headers_add(&headers, "Authorization", "Bearer ", t->token);
	if (a->part && a->part->done) {
		snprintf(range, sizeof(range), "%lld-", (long long)a->part->done);
		http_headers_add(&headers, "Range", "bytes=", range);
	}
	a->over = a->begun = false;
	a->other_bytes = 0;
	a->failure = (struct fh_error)FH_ERROR_INIT;
	r = http_start(t->http, &request, &a->call, err);
	if (r < 0)
		return r;
	return ask_wait(a, err);
}

/* --- redirects and tries ---------------------------------------------------------------------- */

/* Compares the servers of two URLs. -EINVAL: one is not a URL, or the second gives up
 * encryption. */
static int ask_compare(const char *from, const char *to, bool *out_same, struct fh_error *err)
{
	auto_http_url struct http_url a = { NULL }, b = { NULL };
	int r = http_url_parse(from, &a, err);

	if (r < 0)
		return r;
	r = http_url_parse(to, &b, err);
	if (r < 0)
		return error_wrap(err, "follow the server's redirect");
	if (str_eq(a.scheme, "https") && !str_eq(b.scheme, "https"))
		return error_say(err, EINVAL,
				"the server redirects to '%s', which is not encrypted", to);
	*out_same = str_eq(a.scheme, b.scheme) && str_eq(a.host, b.host) && str_eq(a.port, b.port);
	return 0;
}

static int ask_follow(struct ask *a, struct fh_error *err)
{
	auto_free char *url = xstrdup(a->url);
	bool with_token = a->t->token != NULL, same = false;

	for (int i = 0; i <= REDIRECTS_MAX; i++) {
		int r = ask_once(a, url, with_token, err);

		if (r < 0)
			return r;
		if (!a->location)
			return 0;
		/* Don't follow the redirect: a large file's signed address refuses HEAD, and its
		 * hash is known already. */
		if (a->head && a->hub && *a->seen.sha256)
			return 0;
		r = ask_compare(url, a->location, &same, err);
		if (r < 0 || (a->head && a->hub && !same))
			return r;
		with_token = with_token && same;
		free(url);
		url = take_ptr(a->location);
	}
	return error_say(err, EIO, "the server redirects more than %d times", REDIRECTS_MAX);
}

/* Sets the error for an HTTP status. */
static int ask_judge_status(const struct ask *a, struct fh_error *err)
{
	const char *colon = *a->sentence ? ": " : "";

	if (a->status == 416 && a->part) {
		error_say(err, EAGAIN, "the server announces more than the file's %lld bytes",
				(long long)a->part->done);
		part_restart(a->part, NULL);
		return err->code;
	}
	if (a->status == 408 || a->status == 429 || a->status >= 500)
		return error_say(err, EAGAIN, "the server answered with status %d%s%s", a->status,
				colon, a->sentence);
	if (a->status == 401 || a->status == 403)
		return error_say(err, EIO,
				"the server refuses it (status %d%s%s): accept its terms on its "
				"page, and set HF_TOKEN if it is on Hugging Face",
				a->status, colon, a->sentence);
	if (a->status == 404 || a->status == 410)
		return error_say(err, EIO, "the server has no such file (status %d%s%s)", a->status,
				colon, a->sentence);
	return error_say(err, EIO, "the server answered with status %d%s%s", a->status, colon,
			a->sentence);
}

/* Judges the answer to a request. 0: the request succeeded. -EAGAIN: another try may succeed. Other
 * errors are final. */
static int ask_judge(const struct ask *a, struct fh_error *err)
{
	bool is_file = a->status == 200 || (a->status == 206 && a->part);
	/* Some servers refuse HEAD with these statuses. Then nothing is known of the file, but it
	 * may be fetched. */
	bool is_unknown = a->head && !a->hub &&
			(a->status == 400 || a->status == 403 || a->status == 405 ||
					a->status == 501);

	switch (a->error) {
	case HTTP_ANSWERED:
		if (is_file || is_unknown || (a->head && a->location))
			return 0;
		return ask_judge_status(a, err);
	case HTTP_BROKEN:
		return error_say(err, EAGAIN, "%s", a->sentence);
	case HTTP_TIMEOUT:
		return error_say(err, EAGAIN, "the server was silent for %g s",
				(double)a->t->stall_ms / 1000);
	case HTTP_REFUSED:
		if (a->failure.code < 0) {
			*err = a->failure;
			return err->code;
		}
		return ask_judge_status(a, err);
	case HTTP_USELESS:
		return error_say(err, EIO, "%s", a->sentence);
	}
	return 0;
}

/* Sends the request, and judges its answer as ask_judge() does. */
static int ask_attempt(struct ask *a, struct fh_error *err)
{
	int r;

	a->error = HTTP_ANSWERED;
	a->status = 0;
	a->seen = (struct transfer_look){ .size_bytes = -1 };
	r = ask_follow(a, err);
	if (r < 0)
		return r;
	r = ask_judge(a, err);
	if (r < 0)
		return r;
	if (a->part && a->look->size_bytes > a->part->done)
		return error_say(err, EAGAIN, "the connection ended too early");
	return 0;
}

/* Repeats the request until it succeeds, or until TRANSFER_TRIES tries in a row have brought no new
 * byte. */
static int ask_try(struct ask *a, struct fh_error *err)
{
	/* Most bytes so far, which a try must exceed to count as progress. A server that makes the
	 * part restart brings none. */
	int64_t most = a->part ? a->part->done : 0;

	for (int tries = 1;; tries++) {
		int r = ask_attempt(a, err);
		int64_t pause_ms;

		if (r != -EAGAIN)
			return r;
		if (a->part && a->part->keep && a->part->done > most) {
			most = a->part->done;
			tries = 1;
		}
		pause_ms = TRANSFER_PAUSE_MS << (tries - 1);
		if (a->pause_ms > pause_ms)
			pause_ms = a->pause_ms;
		if (tries >= TRANSFER_TRIES || pause_ms > PAUSE_MS_MAX)
			return err->code = a->status ? -EIO : -ENETUNREACH;
		r = transfer_wait(a->t, -1, pause_ms, err);
		if (r < 0)
			return r;
		/* Begin anew if nothing identifies the content: the rest may be of another file. */
		if (a->part && !a->part->keep)
			part_restart(a->part, NULL);
	}
}

/* --- interface -------------------------------------------------------------------------------- */

int transfer_look(const struct transfer *t, const char *url, bool hub, struct transfer_look *out,
		struct fh_error *err)
{
	struct ask a = { .t = t, .url = url, .head = true, .hub = hub };
	int r = ask_try(&a, err);

	free(a.location);
	if (r < 0)
		return r;
	*out = a.seen;
	return 0;
}

static int transfer_get_part(struct ask *a, const char *expected, char out_hex[SHA256_HEX_BYTES],
		struct fh_error *err)
{
	int64_t size_bytes = a->look->size_bytes;
	int r = size_bytes >= 0 && a->part->done > size_bytes ? part_restart(a->part, err) : 0;

	if (r < 0)
		return r;
	for (;;) {
		bool was_continued;

		r = a->part->done && a->part->done == size_bytes ? 0 : ask_try(a, err);
		if (r < 0)
			return r;
		was_continued = a->part->is_continued;
		r = part_finish(a->part, expected, out_hex, err);
		/* The server may have changed the file between two parts: fetch it as a whole. */
		if (r != -EBADMSG || !was_continued)
			return r;
	}
}

int transfer_get(const struct transfer *t, const char *url, const struct transfer_look *look,
		const char *expected, const char *target, char out_hex[SHA256_HEX_BYTES],
		int64_t *out_bytes, struct fh_error *err)
{
	const char *identity = expected ? expected : *look->validator ? look->validator : NULL;
	auto_part struct part part = PART_INIT;
	struct ask a = { .t = t,
		.url = url,
		.hub = *look->commit || *look->sha256,
		.look = look,
		.part = &part };
	int r = part_open(target, identity, &part, err);

	if (r < 0)
		return r;
	r = transfer_get_part(&a, expected, out_hex, err);
	free(a.location);
	if (r < 0)
		return r;
	*out_bytes = part.done;
	return 0;
}
