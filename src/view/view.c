/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view_inside.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/scope.h"
#include "view/admit.h"
#include "view/answer_head.h"
#include "view/page_order.h"
#include "view/watch.h"
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
#define LOOK_MS 250       /* time between looks at so many connections */
#define LINKS_PAUSE_MS 30 /* after requests of so many connections */
#define STREAMS_MAX 200

/*
 * libwebsockets watches the sockets of connections. It has its own pages for requests
 * that it can't read, and none for a head that is too long. So it gives this file the bytes.
 */

/* True if the answer is sent without its text. */
static bool view_is_head(const struct view_link *c)
{
	return c->request.method && str_eq(c->request.method, "HEAD");
}

static void view_set_timeout(const struct view_link *c, int seconds)
{
	lws_api.set_timeout(c->wsi, seconds ? PENDING_TIMEOUT_HTTP_CONTENT : NO_PENDING_TIMEOUT,
			seconds);
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

	view_set_awaits(c, false);
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
	watch_add(view_of(wsi)->watch_fd, lws_api.get_socket_fd(wsi));
	view_clear(c);
	view_set_timeout(c, REQUEST_TIMEOUT_S);
}

static void view_free_link(struct view_link *c)
{
	if (!c)
		return;
	view_set_awaits(c, false);
	lws_api.set_opaque_user_data(c->wsi, NULL);
	view_of(c->wsi)->n_links--;
	view_clear(c);
	free(c);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Gives libwebsockets a descriptor, which it closes. A connection gets RAW_ADOPT. */
static struct lws *view_adopt(struct view *v, int fd, unsigned kind)
{
	const lws_sock_file_fd_type own = { .filefd = fd };

	return lws_api.adopt_descriptor_vhost(lws_api.get_vhost_by_name(v->context, VHOST),
			(lws_adoption_type)kind, own, VHOST, NULL);
}

static void view_accept(struct view *v)
{
	int fd;

	while ((fd = accept4(v->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		view_adopt(v, fd, LWS_ADOPT_SOCKET);
}

static int view_callback(
		struct lws *wsi, enum lws_callback_reasons reason, void *unused, void *in, size_t n)
{
	switch (reason) {
	case LWS_CALLBACK_RAW_RX_FILE:
		if (lws_api.get_socket_fd(wsi) == view_of(wsi)->listen_fd) {
			view_accept(view_of(wsi));
			return 0;
		}
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

static int view_open(struct view *v, int *out_port, struct fh_error *err)
{
	static const struct lws_protocols protocols[] = {
		{ .name = VHOST, .callback = view_callback },
		{ 0 },
	};
	const struct view_options *o = v->options;
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = protocols,
		.vhost_name = VHOST,
		.user = v,
		.pt_serv_buf_size = IO_BYTES,
		.gid = (gid_t)-1,
		.uid = (uid_t)-1,
	};
	int stop_fd, r = watch_open(&v->watch_fd, err);

	if (r < 0)
		return r;
	r = watch_listen(o->port, &v->listen_fd, out_port, err);
	if (r < 0)
		return r;
	/* Within a run this is not the thread that may write the log. */
	lws_api.set_log_level(o->takeover ? 0 : LLL_ERR | LLL_WARN, view_log);
	v->context = lws_api.create_context(&info);
	stop_fd = fcntl(o->stop_fd, F_DUPFD_CLOEXEC, 0);
	if (!v->context || stop_fd < 0 || !view_adopt(v, v->listen_fd, LWS_ADOPT_RAW_FILE_DESC) ||
			!view_adopt(v, stop_fd, LWS_ADOPT_RAW_FILE_DESC))
		return error_say(err, ENOMEM, "start libwebsockets");
	watch_add(v->watch_fd, v->listen_fd);
	watch_add(v->watch_fd, stop_fd);
	return 0;
}

/* Serves requests as they come. After each a short pause lets some come together, because each one
 * disturbs the run. */
static void view_serve_ready(struct view *v, int wait_ms)
{
	struct pollfd stop = { .fd = v->options->stop_fd, .events = POLLIN };

	if (watch_serve(v->watch_fd, v->context, wait_ms) > 0 && !v->over)
		poll(&stop, 1, LINKS_PAUSE_MS);
}

/*
 * Serves what is ready. With many connections, a look of libwebsockets at all of them takes longer
 * than most answers. So it looks only now and then, for its timers, and while answers go on.
 */
static bool view_turn(struct view *v)
{
	bool looks = v->n_links <= LINKS_MANY || v->n_awaiting;
	int64_t rest_ms = LOOK_MS - (clock_now_ns() - v->looked_ns) / NS_PER_MS;

	v->library.round++;
	if (!looks && rest_ms > 0) {
		view_serve_ready(v, (int)rest_ms);
		return true;
	}
	v->looked_ns = clock_now_ns();
	return lws_api.service(v->context, looks ? 0 : -1) >= 0;
}

static int view_run(struct view *v, struct fh_error *err)
{
	const struct view_options *o = v->options;
	char address[ADDRESS_BYTES];
	int port, r = view_open(v, &port, err);

	if (r < 0)
		return r;
	snprintf(address, sizeof(address), "http://" ADDRESS ":%d/%s/", port, o->token);
	o->listening(o->user, address);
	library_list(&v->library); /* a page will ask for it soon */
	while (!v->over && view_turn(v))
		;
	return 0;
}

int view_serve(const struct view_options *o, struct fh_error *err)
{
	struct view v = {
		.options = o,
		.library = { .places = &o->places, .stop_fd = o->stop_fd, .arena = ARENA_INIT },
		.guard = { .token = o->token },
		.listen_fd = -1,
		.watch_fd = -1,
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
	else
		close_fd(&v.listen_fd);
	while (v.n_closing) {
		view_close_streams(&v);
		usleep(1000);
	}
	close_fd(&v.watch_fd);
	free(v.closing);
	library_release(&v.library);
	return r;
}
