/* SPDX-License-Identifier: Apache-2.0 */
#include "view/net.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/scope.h"
#include "view/admit.h"
#include "view/page.h"
#include "view/page_order.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ADDRESS "127.0.0.1"
#define ADDRESS_BYTES 512
#define VHOST "fumehood"
#define NICE 10
#define HEADER_BYTES_MAX 8192
#define CONNECTIONS_MAX 256
#define REQUEST_TIMEOUT_S 20
#define KEEPALIVE_TIMEOUT_S 60
#define SEND_TIMEOUT_S 30
#define CHUNK_BYTES (32L << 10)
#define HEAD_BYTES 2048
#define STREAM_NEWS_US (250 * LWS_US_PER_MS)
#define STREAMS_MAX 200
#define STREAM_QUIET_NS (15 * NS_PER_S) /* a silent stream shows this often that it is alive */

struct view {
	const struct view_options *options;
	struct library library;
	struct guard guard;
	struct lws_context *context;
	lws_sorted_usec_list_t news; /* timer of the streams */
	struct view_reply *streams;
	size_t n_streams;
	struct stream **closing; /* streams that nobody reads any more */
	size_t n_closing;
	bool over;
};

/* An answer that is being sent. */
struct view_reply {
	struct page_answer answer;
	size_t sent;
	bool headed;
	bool closes;   /* the connection ends with the answer */
	bool is_order; /* a body follows, which gives an order */
	struct buf body;
	struct lws *wsi;
	struct view_reply *next; /* in the view's list of streams */
	int64_t told_ns;         /* when the stream sent something */
	bool ended;              /* the stream has no more events */
};

/* Nothing but the page's own files can run or be loaded, and no other page can show this one. */
static const char *const view_headers[][2] = {
	{ "content-security-policy:",
			"default-src 'none'; script-src 'self'; style-src 'self'; "
			"connect-src 'self'; img-src data:; base-uri 'none'; "
			"form-action 'none'; frame-ancestors 'none'; "
			"require-trusted-types-for 'script'; trusted-types 'none'" },
	{ "cache-control:", "no-store" },
	{ "cross-origin-opener-policy:", "same-origin" },
	{ "cross-origin-resource-policy:", "same-origin" },
	{ "referrer-policy:", "no-referrer" },
	{ "x-content-type-options:", "nosniff" },
};

static struct view *view_of(struct lws *wsi)
{
	return lws_api.context_user(lws_api.get_context(wsi));
}

static struct view_reply *view_begin_reply(struct lws *wsi)
{
	struct view_reply *reply = lws_api.get_opaque_user_data(wsi);

	if (!reply) {
		reply = xcalloc(1, sizeof(*reply));
		buf_init(&reply->answer.text, PAGE_ANSWER_BYTES_MAX);
		buf_init(&reply->body, ADMIT_BODY_BYTES_MAX);
		lws_api.set_opaque_user_data(wsi, reply);
	}
	buf_clear(&reply->answer.text);
	reply->sent = 0;
	reply->headed = reply->closes = reply->is_order = false;
	return reply;
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Appends a stream's news, if the page has taken the ones before. */
static void view_ask_stream(struct view_reply *r)
{
	struct buf *text = &r->answer.text;

	if (text->len || r->ended)
		return;
	r->ended = !r->answer.stream->kind->more(r->answer.stream, text);
	/* A comment shows whether the page is still there. */
	if (!text->len && clock_now_ns() - r->told_ns > STREAM_QUIET_NS)
		buf_add_str(text, ":\n\n");
	if (!text->len && !r->ended)
		return;
	r->told_ns = clock_now_ns();
	lws_api.callback_on_writable(r->wsi);
}

static void view_close_streams(struct view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_closing; i++)
		if (!v->closing[i]->kind->close(v->closing[i]))
			v->closing[n++] = v->closing[i];
	v->n_closing = n;
}

static void view_news(lws_sorted_usec_list_t *timer)
{
	struct view *v = lws_container_of(timer, struct view, news);

	for (struct view_reply *r = v->streams; r; r = r->next)
		view_ask_stream(r);
	view_close_streams(v);
	if (v->streams || v->n_closing)
		lws_api.sul_schedule(v->context, 0, &v->news, view_news, STREAM_NEWS_US);
}

static void view_join_stream(struct view *v, struct view_reply *r)
{
	r->told_ns = clock_now_ns();
	r->next = v->streams;
	v->streams = r;
	v->n_streams++;
	lws_api.sul_schedule(v->context, 0, &v->news, view_news, STREAM_NEWS_US);
}

static void view_leave_stream(struct view *v, struct view_reply *r)
{
	struct view_reply **at = &v->streams;

	while (*at && *at != r)
		at = &(*at)->next;
	if (*at) {
		*at = r->next;
		v->n_streams--;
	}
	v->closing = xgrow(v->closing, v->n_closing, sizeof(struct stream *));
	v->closing[v->n_closing++] = r->answer.stream;
	r->answer.stream = NULL;
	view_close_streams(v);
}

/* --- replies ---------------------------------------------------------------------------------- */

static void view_free_reply(struct lws *wsi)
{
	struct view_reply *reply = lws_api.get_opaque_user_data(wsi);

	if (!reply)
		return;
	if (reply->answer.stream)
		view_leave_stream(view_of(wsi), reply);
	lws_api.set_opaque_user_data(wsi, NULL);
	buf_release(&reply->answer.text);
	buf_release(&reply->body);
	free(reply);
}

/* --- requests --------------------------------------------------------------------------------- */

static const char *view_argument(void *user, const char *name, char value[PAGE_VALUE_BYTES])
{
	return lws_api.get_urlarg_by_name(user, name, value, PAGE_VALUE_BYTES);
}

static void view_refuse(struct view_reply *reply)
{
	reply->answer.mime = "text/plain; charset=utf-8";
	buf_add_str(&reply->answer.text, admit_reason(reply->answer.status));
	/* A body may follow, which is not read. */
	reply->closes = true;
}

static int view_request(struct lws *wsi, const char *path)
{
	struct view *v = view_of(wsi);
	struct view_reply *reply = view_begin_reply(wsi);
	struct admitted a = admit(wsi, &v->guard, path, v->options->takeover != NULL);
	const struct page_request q = { .path = a.path,
		.argument = view_argument,
		.user = wsi,
		.takeover = v->options->takeover };

	reply->answer.status = a.status;
	reply->is_order = a.path && a.is_order;
	if (reply->is_order)
		return 0; /* view_order() answers when the body is there */
	if (a.path)
		page_make(&v->library, &q, &reply->answer);
	else
		view_refuse(reply);
	if (reply->answer.stream && v->n_streams >= STREAMS_MAX) {
		view_leave_stream(v, reply);
		reply->answer.status = 503;
	}
	if (reply->answer.stream) {
		reply->wsi = wsi;
		reply->closes = true;
		view_join_stream(v, reply);
	}
	lws_api.callback_on_writable(wsi);
	return 0;
}

/* Adds a piece of an order's body. The connection ends if the body is longer than it said. */
static int view_add_body(struct lws *wsi, const char *data, size_t n)
{
	struct view_reply *reply = lws_api.get_opaque_user_data(wsi);

	if (!reply || !reply->is_order)
		return 0;
	buf_add(&reply->body, data, n);
	return reply->body.truncated ? -1 : 0;
}

static int view_order(struct lws *wsi)
{
	struct view_reply *reply = lws_api.get_opaque_user_data(wsi);
	struct view *v = view_of(wsi);

	if (!reply || !reply->is_order)
		return 0;
	page_order(&v->library, v->options->takeover, &reply->body, &reply->answer);
	reply->closes = true;
	lws_api.callback_on_writable(wsi);
	return 0;
}

/* --- answers ---------------------------------------------------------------------------------- */

static bool view_add_header(struct lws *wsi, const char *name, const char *value, unsigned char **p,
		unsigned char *end)
{
	return !lws_api.add_http_header_by_name(wsi, (const unsigned char *)name,
			(const unsigned char *)value, (int)strlen(value), p, end);
}

static int view_send_head(struct lws *wsi, struct view_reply *reply)
{
	unsigned char head[LWS_PRE + HEAD_BYTES], *p = head + LWS_PRE;
	unsigned char *end = head + sizeof(head) - 1;
	const char *mime = reply->answer.stream ? "text/event-stream" : reply->answer.mime;
	bool ok = !lws_api.add_http_header_status(wsi, (unsigned)reply->answer.status, &p, end) &&
			view_add_header(wsi, "content-type:", mime, &p, end);

	for (size_t i = 0; i < ARRAY_SIZE(view_headers); i++)
		ok = ok && view_add_header(wsi, view_headers[i][0], view_headers[i][1], &p, end);
	if (reply->closes)
		ok = ok && view_add_header(wsi, "connection:", "close", &p, end);
	if (!reply->answer.stream)
		ok = ok &&
				!lws_api.add_http_header_content_length(
						wsi, reply->answer.text.len, &p, end);
	if (!ok || lws_api.finalize_http_header(wsi, &p, end))
		return -1;
	reply->headed = true;
	return lws_api.write(wsi, head + LWS_PRE, (size_t)(p - head - LWS_PRE),
			       LWS_WRITE_HTTP_HEADERS) < 0
			? -1
			: 0;
}

/* Sends a piece of what a stream told. */
static int view_send_events(struct lws *wsi, struct view_reply *reply)
{
	static unsigned char chunk[LWS_PRE + CHUNK_BYTES];
	struct buf *text = &reply->answer.text;
	size_t n = text->len - reply->sent;

	n = n < CHUNK_BYTES ? n : CHUNK_BYTES;
	memcpy(chunk + LWS_PRE, text->data + reply->sent, n);
	lws_api.set_timeout(wsi, n ? PENDING_TIMEOUT_HTTP_CONTENT : NO_PENDING_TIMEOUT,
			n ? SEND_TIMEOUT_S : 0);
	if (n && lws_api.write(wsi, chunk + LWS_PRE, n, LWS_WRITE_HTTP) < 0)
		return -1;
	reply->sent += n;
	if (reply->sent < text->len) {
		lws_api.callback_on_writable(wsi);
		return 0;
	}
	/* A large answer takes no memory until the next one. */
	buf_release(text);
	buf_init(text, PAGE_ANSWER_BYTES_MAX);
	reply->sent = 0;
	lws_api.set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
	return reply->ended ? -1 : 0;
}

static int view_writable(struct lws *wsi)
{
	static unsigned char chunk[LWS_PRE + CHUNK_BYTES];
	struct view_reply *reply = lws_api.get_opaque_user_data(wsi);
	const struct buf *text;
	size_t n;
	bool last;

	if (!reply)
		return 0;
	text = &reply->answer.text;
	lws_api.set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, SEND_TIMEOUT_S);
	if (!reply->headed) {
		if (view_send_head(wsi, reply) < 0)
			return -1;
		lws_api.callback_on_writable(wsi);
		return 0;
	}
	if (reply->answer.stream)
		return view_send_events(wsi, reply);
	n = text->len - reply->sent;
	last = n <= CHUNK_BYTES;
	n = last ? n : CHUNK_BYTES;
	memcpy(chunk + LWS_PRE, text->data + reply->sent, n);
	if (lws_api.write(wsi, chunk + LWS_PRE, n, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) <
			0)
		return -1;
	reply->sent += n;
	if (!last) {
		lws_api.callback_on_writable(wsi);
		return 0;
	}
	if (reply->closes)
		return -1;
	view_free_reply(wsi); /* a large answer takes no memory until the next request */
	return lws_api.http_transaction_completed(wsi) ? -1 : 0;
}

/* --- the loop --------------------------------------------------------------------------------- */

static int view_callback(
		struct lws *wsi, enum lws_callback_reasons reason, void *unused, void *in, size_t n)
{
	switch (reason) {
	case LWS_CALLBACK_RAW_RX_FILE:
		view_of(wsi)->over = true;
		return -1;
	case LWS_CALLBACK_HTTP:
		return view_request(wsi, in);
	case LWS_CALLBACK_HTTP_BODY:
		return view_add_body(wsi, in, n);
	case LWS_CALLBACK_HTTP_BODY_COMPLETION:
		return view_order(wsi);
	case LWS_CALLBACK_HTTP_WRITEABLE:
		return view_writable(wsi);
	case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
		return -1; /* no WebSockets */
	case LWS_CALLBACK_WSI_DESTROY:
		view_free_reply(wsi);
		return 0;
	default:
		return 0;
	}
}

static void view_log(int level, const char *line)
{
	log_record(NULL, LOG_DEBUG, "libwebsockets", &(struct log_field){ "line", line }, 1);
}

static int view_open(struct view *v, struct fh_error *err)
{
	static const struct lws_protocols protocols[] = {
		{ .name = VHOST, .callback = view_callback },
		{ 0 },
	};
	const struct view_options *o = v->options;
	struct lws_context_creation_info info = {
		.port = o->port,
		.iface = ADDRESS,
		.protocols = protocols,
		.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
		.vhost_name = VHOST,
		.user = v,
		.max_http_header_data2 = HEADER_BYTES_MAX,
		.max_http_header_pool2 = CONNECTIONS_MAX,
		.timeout_secs = REQUEST_TIMEOUT_S,
		.keepalive_timeout = KEEPALIVE_TIMEOUT_S,
		.gid = (gid_t)-1,
		.uid = (uid_t)-1,
	};
	lws_sock_file_fd_type stop = { .filefd = fcntl(o->stop_fd, F_DUPFD_CLOEXEC, 0) };

	if (stop.filefd < 0)
		return error_set(err, errno, "copy a descriptor");
	/* Within a run this is not the thread that may write the log. */
	lws_api.set_log_level(o->takeover ? 0 : LLL_ERR | LLL_WARN, view_log);
	v->context = lws_api.create_context(&info);
	if (!v->context) {
		close(stop.filefd);
		return error_say(err, EADDRINUSE, "can't listen on %s port %d", ADDRESS, o->port);
	}
	if (!lws_api.adopt_descriptor_vhost(lws_api.get_vhost_by_name(v->context, VHOST),
			    LWS_ADOPT_RAW_FILE_DESC, stop, VHOST, NULL))
		return error_say(err, ENOMEM, "watch a descriptor");
	return 0;
}

static int view_run(struct view *v, struct fh_error *err)
{
	const struct view_options *o = v->options;
	char address[ADDRESS_BYTES];
	int r = view_open(v, err);

	if (r < 0)
		return r;
	snprintf(address, sizeof(address), "http://" ADDRESS ":%d/%s/",
			lws_api.get_vhost_listen_port(lws_api.get_vhost_by_name(v->context, VHOST)),
			o->token);
	o->listening(o->user, address);
	while (!v->over && lws_api.service(v->context, 0) >= 0)
		;
	return 0;
}

int view_serve(const struct view_options *o, struct fh_error *err)
{
	struct view v = {
		.options = o,
		.library = { .places = &o->places, .arena = ARENA_INIT },
		.guard = { .token = o->token },
	};
	int r = lws_load(err);

	if (r < 0)
		return r;
	/* On Linux this is the priority of the thread alone. */
	if (nice(NICE) < 0 && errno)
		errno = 0;
	r = view_run(&v, err);
	if (v.context)
		lws_api.context_destroy(v.context);
	while (v.n_closing) {
		view_close_streams(&v);
		usleep(1000);
	}
	free(v.closing);
	library_release(&v.library);
	return r;
}
