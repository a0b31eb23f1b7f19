/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_VIEW_INSIDE_H
#define VIEW_VIEW_INSIDE_H

#include "base/request_reader.h"
#include "view/page.h"
#include "view/view.h"
#include "web/guard.h"
#include "web/lws.h"

/* The server and its connections. */

struct view {
	const struct view_options *options;
	struct library library;
	struct guard guard;
	struct lws_context *context;
	size_t n_links;
	int listen_fd, watch_fd;     /* the first one belongs to the context */
	int64_t looked_ns;           /* when libwebsockets last looked at all sockets */
	size_t n_awaiting;           /* links that wait until they are writable */
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
	bool awaits;            /* until it is writable */
	bool closes;            /* the connection ends with the answer */
	struct view_link *next; /* in the view's list of streams */
	int64_t told_ns;        /* when the stream sent something */
	bool ended;             /* the stream has no more events */
};

static inline struct view *view_of(struct lws *wsi)
{
	return lws_api.context_user(lws_api.get_context(wsi));
}

static inline struct view_link *view_link_of(struct lws *wsi)
{
	return lws_api.get_opaque_user_data(wsi);
}

static inline void view_set_awaits(struct view_link *c, bool awaits)
{
	view_of(c->wsi)->n_awaiting += (size_t)awaits - (size_t)c->awaits;
	c->awaits = awaits;
}

static inline void view_await_writable(struct view_link *c)
{
	view_set_awaits(c, true);
	lws_api.callback_on_writable(c->wsi);
}

/* Sends the events of a link's stream, until view_leave_stream(). */
void view_join_stream(struct view *v, struct view_link *r);
void view_leave_stream(struct view *v, struct view_link *r);

/* Closes the streams that nobody reads any more, if their work lets them. */
void view_close_streams(struct view *v);

#endif
