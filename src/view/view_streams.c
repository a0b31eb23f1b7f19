/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view_inside.h"

#include "base/clock.h"
#include "base/mem.h"

#define STREAM_NEWS_US (250 * LWS_US_PER_MS)
#define STREAM_QUIET_NS (15 * NS_PER_S) /* a silent stream shows this often that it is alive */

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

void view_close_streams(struct view *v)
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

void view_join_stream(struct view *v, struct view_link *r)
{
	r->told_ns = clock_now_ns();
	r->next = v->streams;
	v->streams = r;
	v->n_streams++;
	lws_api.sul_schedule(v->context, 0, &v->news, view_news, STREAM_NEWS_US);
}

void view_leave_stream(struct view *v, struct view_link *r)
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
