/* SPDX-License-Identifier: Apache-2.0 */
#include "view/thread_stream.h"

#include "base/scope.h"

#include <stdlib.h>

static int thread_stream_run(void *arg, struct fh_error *err)
{
	struct thread_stream *w = arg;
	auto_buf struct buf none = BUF_INIT(8);

	w->run(w);
	buf_add_str(&none, "{}");
	thread_stream_tell(w, "end", &none);
	return 0;
}

void thread_stream_tell(struct thread_stream *w, const char *name, const struct buf *json)
{
	auto_unlock pthread_mutex_t *held = scope_lock(&w->lock);

	if (!json->truncated)
		stream_add_event(&w->events, name, json);
}

static bool thread_stream_more(struct stream *s, struct buf *out)
{
	struct thread_stream *w = (struct thread_stream *)s;
	bool over = job_is_over(w->job);
	auto_unlock pthread_mutex_t *held = scope_lock(&w->lock);

	buf_add(out, w->events.data, w->events.len);
	buf_clear(&w->events);
	return !over;
}

static bool thread_stream_close(struct stream *s)
{
	struct thread_stream *w = (struct thread_stream *)s;

	atomic_store(&w->stopped, true);
	if (!job_is_over(w->job))
		return false;
	job_end(w->job, NULL);
	w->release(w);
	buf_release(&w->events);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return true;
}

static const struct stream_kind thread_stream_kind = { .more = thread_stream_more,
	.close = thread_stream_close };

int thread_stream_start(struct thread_stream *w, void (*run)(struct thread_stream *w),
		void (*release)(struct thread_stream *w), struct fh_error *err)
{
	w->stream.kind = &thread_stream_kind;
	w->run = run;
	w->release = release;
	pthread_mutex_init(&w->lock, NULL);
	buf_init(&w->events, THREAD_STREAM_EVENTS_BYTES_MAX);
	return job_begin(thread_stream_run, w, "answer the page", &w->job, err);
}
