/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/scope.h"
#include "view/admit.h"
#include "view/answer_head.h"
#include "view/page.h"
#include "view/page_order.h"
#include "web/lws.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ADDRESS "127.0.0.1"
#define VHOST "fumehood"
#define NICE 10
#define REQUEST_TIMEOUT_S 20
#define IDLE_TIMEOUT_S 60
#define SEND_TIMEOUT_S 30
#define LINGER_TIMEOUT_S 2
#define CHUNK_BYTES (32L << 10)
#define HEAD_BYTES_MAX 2048
#define IO_BYTES (HEAD_BYTES_MAX + CHUNK_BYTES) /* most bytes that are read or written at once */
#define ADDRESS_BYTES 512
#define LINKS_MANY 32
#define LINKS_REST_MS 50 /* a rest between looks at so many connections */
#define STREAM_NEWS_US (250 * LWS_US_PER_MS)
#define STREAMS_MAX 200
#define STREAM_QUIET_NS (15 * NS_PER_S) /* a silent stream shows this often that it is alive */

/*
 * libwebsockets accepts connections, and watches their sockets. It has its own pages for requests
 * that it can't read, and none for a head that is too long. So it gives this file the bytes.
 */

struct view {
	const struct view_options *options;
	struct library library;
	struct guard guard;
	struct lws_context *context;
	size_t n_links;
	bool is_busy;                /* an answer or a request goes on */
	lws_sorted_usec_list_t news; /* timer of the streams */
	struct view_link *streams;
	size_t n_streams;
	struct stream **closing; /* streams that nobody reads any more */
	size_t n_closing;
	bool over;
};

enum view_stage {
	VIEW_REQUEST, /* a request comes */
	VIEW_ANSWER,  /* an answer is being sent */
	VIEW_LINGER,  /* all is sent; what still comes is dropped, so that the answer is not lost */
};

/* A connection. */
struct view_link {
	struct lws *wsi;
	enum view_stage stage;
	struct buf in; /* bytes that were not taken yet */
	struct request_reader request;
	const char *path; /* path of the request behind the token; NULL: it was not admitted yet */
	struct page_answer answer;
	size_t sent; /* bytes of the answer's text */
	bool headed;
	bool closes;            /* the connection ends with the answer */
	struct view_link *next; /* in the view's list of streams */
	int64_t told_ns;        /* when the stream sent something */
	bool ended;             /* the stream has no more events */
};

static struct view *view_of(struct lws *wsi)
{
	return lws_api.context_user(lws_api.get_context(wsi));
}

static struct view_link *view_link_of(struct lws *wsi)
{
	return lws_api.get_opaque_user_data(wsi);
}

/* True if the answer is sent without its text. */
static bool view_is_head(const struct view_link *c)
{
	return c->request.method && str_eq(c->request.method, "HEAD");
}

static void view_await_writable(struct view_link *c)
{
	view_of(c->wsi)->is_busy = true;
	lws_api.callback_on_writable(c->wsi);
}

static void view_set_timeout(const struct view_link *c, int seconds)
{
	lws_api.set_timeout(c->wsi, seconds ? PENDING_TIMEOUT_HTTP_CONTENT : NO_PENDING_TIMEOUT,
			seconds);
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Sends a page the new events of its stream, once the page has taken the earlier ones. */
static void view_ask_stream(struct view_link *r)
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
	view_await_writable(r);
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

	for (struct view_link *r = v->streams; r; r = r->next)
		view_ask_stream(r);
	view_close_streams(v);
	if (v->streams || v->n_closing)
		lws_api.sul_schedule(v->context, 0, &v->news, view_news, STREAM_NEWS_US);
}

static void view_join_stream(struct view *v, struct view_link *r)
{
	r->told_ns = clock_now_ns();
	r->next = v->streams;
	v->streams = r;
	v->n_streams++;
	lws_api.sul_schedule(v->context, 0, &v->news, view_news, STREAM_NEWS_US);
}

static void view_leave_stream(struct view *v, struct view_link *r)
{
	struct view_link **at = &v->streams;

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

/* --- answers ---------------------------------------------------------------------------------- */

/* Forgets a request and its answer. A large answer takes no memory until the next request. */
static void view_clear(struct view_link *c)
{
	if (c->answer.stream)
		view_leave_stream(view_of(c->wsi), c);
	buf_release(&c->answer.text);
	buf_release(&c->in);
	request_reader_release(&c->request);
	buf_init(&c->answer.text, PAGE_ANSWER_BYTES_MAX);
	buf_init(&c->in, REQUEST_HEAD_MAX + IO_BYTES);
	request_reader_init(&c->request, ADMIT_BODY_BYTES_MAX);
	c->path = NULL;
	c->sent = 0;
	c->headed = false;
}

static void view_end_answer(struct view_link *c)
{
	view_clear(c);
	c->stage = c->closes ? VIEW_LINGER : VIEW_REQUEST;
	view_set_timeout(c, c->closes ? LINGER_TIMEOUT_S : IDLE_TIMEOUT_S);
	if (c->closes)
		shutdown(lws_api.get_socket_fd(c->wsi), SHUT_WR);
}

static int view_write(
		struct view_link *c, const char *head, size_t n_head, const char *data, size_t n)
{
	static unsigned char bytes[LWS_PRE + IO_BYTES];

	memcpy(bytes + LWS_PRE, head, n_head);
	memcpy(bytes + LWS_PRE + n_head, data, n);
	return lws_api.write(c->wsi, bytes + LWS_PRE, n_head + n, LWS_WRITE_RAW) < 0 ? -1 : 0;
}

/* Waits for the next events of a stream. */
static void view_rest_stream(struct view_link *c)
{
	/* A large answer takes no memory until the next one. */
	buf_release(&c->answer.text);
	buf_init(&c->answer.text, PAGE_ANSWER_BYTES_MAX);
	c->sent = 0;
	view_set_timeout(c, 0);
}

/* Sends the next piece of an answer's text. The first one has the head before it. */
static int view_send(struct view_link *c)
{
	auto_buf struct buf head = BUF_INIT(HEAD_BYTES_MAX);
	const struct buf *text = &c->answer.text;
	size_t n;

	if (!c->headed)
		head_put(&head, &c->answer, c->closes, view_of(c->wsi)->guard.token);
	c->headed = true;
	if (view_is_head(c))
		c->sent = text->len;
	n = text->len - c->sent;
	n = n < CHUNK_BYTES ? n : CHUNK_BYTES;
	c->sent += n;
	return view_write(c, buf_str(&head), head.len, buf_str(text) + c->sent - n, n);
}

/* Goes on with an answer. libwebsockets calls this when all before has left. */
static int view_writable(struct view_link *c)
{
	bool is_sent = c->headed && c->sent == c->answer.text.len;

	if (c->stage != VIEW_ANSWER)
		return 0;
	if (!is_sent && view_send(c) < 0)
		return -1;
	if (is_sent && c->answer.stream && !c->ended) {
		view_rest_stream(c);
	} else if (is_sent || (!c->closes && c->sent == c->answer.text.len)) {
		view_end_answer(c); /* the next request may come at once */
	} else {
		view_set_timeout(c, SEND_TIMEOUT_S);
		view_await_writable(c);
	}
	return 0;
}

/* Sends a short answer at once. Waiting until the socket is writable would cost a look at all
 * sockets. */
static int view_begin_answer(struct view_link *c)
{
	c->stage = VIEW_ANSWER;
	if (!lws_api.send_pipe_choked(c->wsi))
		return view_writable(c);
	view_set_timeout(c, SEND_TIMEOUT_S);
	view_await_writable(c);
	return 0;
}

/* Answers by a sentence. A body may follow, which is not read. */
static int view_refuse(struct view_link *c, int status)
{
	c->answer.status = status;
	c->answer.mime = "text/plain; charset=utf-8";
	buf_add_str(&c->answer.text, admit_reason(status));
	c->closes = true;
	return view_begin_answer(c);
}

/* --- requests --------------------------------------------------------------------------------- */

static int view_answer(struct view_link *c)
{
	struct view *v = view_of(c->wsi);
	struct takeover *t = v->options->takeover;
	const struct page_request q = { .path = c->path, .query = c->request.query, .takeover = t };

	if (str_eq(c->request.method, "POST"))
		page_order(&v->library, t, &c->request.body, &c->answer);
	else
		page_make(&v->library, &q, &c->answer);
	c->closes = c->request.closes || c->in.len; /* an early second request is dropped */
	if (c->answer.stream && v->n_streams >= STREAMS_MAX) {
		view_leave_stream(v, c);
		c->answer.status = 503;
	}
	if (c->answer.stream) {
		c->closes = true;
		c->ended = view_is_head(c);
		view_join_stream(v, c);
	}
	return view_begin_answer(c);
}

/* Waits for the rest of a request. */
static int view_wait(struct view_link *c)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

	if (!c->path)
		return 0;
	view_of(c->wsi)->is_busy = true;
	view_set_timeout(c, REQUEST_TIMEOUT_S);
	if (!c->request.expects)
		return 0;
	c->request.expects = false;
	return view_write(c, go_on, sizeof(go_on) - 1, "", 0);
}

static int view_take_request(struct view_link *c, const char *data, size_t n)
{
	struct view *v = view_of(c->wsi);
	struct request_reader *r = &c->request;
	int status, refused = 0;

	buf_add(&c->in, data, n);
	if (c->in.truncated)
		return -1;
	status = request_reader_feed(r, &c->in);
	if (r->has_head && status < 400 && !c->path)
		refused = admit(r, &v->guard, v->options->takeover != NULL, &c->path);
	if (refused || status >= 400)
		return view_refuse(c, refused ? refused : status);
	return status == 1 ? view_answer(c) : view_wait(c);
}

static int view_take(struct view_link *c, const char *data, size_t n)
{
	switch (c->stage) {
	case VIEW_REQUEST:
		return view_take_request(c, data, n);
	case VIEW_ANSWER:
		c->closes = true; /* the next request came too early, and is dropped */
		return 0;
	case VIEW_LINGER:
		return 0;
	}
	return -1;
}

static void view_open_link(struct lws *wsi)
{
	struct view_link *c = xcalloc(1, sizeof(*c));

	c->wsi = wsi;
	lws_api.set_opaque_user_data(wsi, c);
	view_of(wsi)->n_links++;
	view_clear(c);
	view_set_timeout(c, REQUEST_TIMEOUT_S);
}

static void view_free_link(struct view_link *c)
{
	if (!c)
		return;
	lws_api.set_opaque_user_data(c->wsi, NULL);
	view_of(c->wsi)->n_links--;
	view_clear(c);
	free(c);
}

/* --- the loop --------------------------------------------------------------------------------- */

static int view_callback(
		struct lws *wsi, enum lws_callback_reasons reason, void *unused, void *in, size_t n)
{
	switch (reason) {
	case LWS_CALLBACK_RAW_RX_FILE:
		view_of(wsi)->over = true;
		return -1;
	case LWS_CALLBACK_RAW_ADOPT:
		view_open_link(wsi);
		return 0;
	case LWS_CALLBACK_RAW_RX:
		return view_take(view_link_of(wsi), in, n);
	case LWS_CALLBACK_RAW_WRITEABLE:
		return view_writable(view_link_of(wsi));
	case LWS_CALLBACK_WSI_DESTROY:
		view_free_link(view_link_of(wsi));
		return 0;
	default:
		return 0;
	}
}

static void view_log(int level, const char *line)
{
	log_line(NULL, LOG_DEBUG, "libwebsockets", &(struct log_field){ "line", line }, 1);
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
		.options = LWS_SERVER_OPTION_ADOPT_APPLY_LISTEN_ACCEPT_CONFIG |
				lws_listen_options(ADDRESS),
		.listen_accept_role = "raw-skt",
		.listen_accept_protocol = VHOST,
		.vhost_name = VHOST,
		.user = v,
		.pt_serv_buf_size = IO_BYTES,
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

/*
 * Ends a round, in which all sockets were looked at. If they are many, the look takes longer than
 * most answers, and each one disturbs the run. So a rest lets some requests come together.
 * Ctrl-C ends the rest.
 */
static void view_end_round(struct view *v)
{
	struct pollfd stop = { .fd = v->options->stop_fd, .events = POLLIN };

	if (v->n_links > LINKS_MANY && !v->is_busy)
		poll(&stop, 1, LINKS_REST_MS);
	v->is_busy = false;
	v->library.round++;
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
	library_list(&v->library); /* a page will ask for it soon */
	while (!v->over && lws_api.service(v->context, 0) >= 0)
		view_end_round(v);
	return 0;
}

int view_serve(const struct view_options *o, struct fh_error *err)
{
	struct view v = {
		.options = o,
		.library = { .places = &o->places, .stop_fd = o->stop_fd, .arena = ARENA_INIT },
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
