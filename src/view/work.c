/* SPDX-License-Identifier: Apache-2.0 */
#include "view/work.h"

#include "base/scope.h"

#include <stdlib.h>

static int work_run(void *arg, struct fh_error *err)
{
	struct view_work *w = arg;
	auto_buf struct buf none = BUF_INIT(8);

	w->run(w);
	buf_add_str(&none, "{}");
	work_tell(w, "end", &none);
	return 0;
}

void work_tell(struct view_work *w, const char *name, const struct buf *json)
{
	auto_unlock pthread_mutex_t *held = scope_lock(&w->lock);

	if (!json->truncated)
		stream_add_event(&w->events, name, json);
}

static bool work_more(struct stream *s, struct buf *out)
{
	struct view_work *w = (struct view_work *)s;
	bool over = job_is_over(w->job);
	auto_unlock pthread_mutex_t *held = scope_lock(&w->lock);

	buf_add(out, w->events.data, w->events.len);
	buf_clear(&w->events);
	return !over;
}

static bool work_close(struct stream *s)
{
	struct view_work *w = (struct view_work *)s;

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

static const struct stream_kind work_kind = { .more = work_more, .close = work_close };

int work_start(struct view_work *w, void (*run)(struct view_work *w),
		void (*release)(struct view_work *w), struct fh_error *err)
{
	w->stream.kind = &work_kind;
	w->run = run;
	w->release = release;
	pthread_mutex_init(&w->lock, NULL);
	buf_init(&w->events, WORK_EVENTS_BYTES_MAX);
	return job_begin(work_run, w, "answer the page", &w->job, err);
}
