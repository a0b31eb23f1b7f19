/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_THREAD_STREAM_H
#define VIEW_THREAD_STREAM_H

#include "base/job.h"
#include "view/stream.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * A stream whose events come from a thread, so that slow work holds up no other answer. It is the
 * first member of the struct of its work.
 */
struct thread_stream {
	struct stream stream;
	struct job *job;
	pthread_mutex_t lock;
	struct buf events; /* events that were not taken yet, under the lock */
	atomic_bool stopped;
	void (*run)(struct thread_stream *w); /* called in the thread */
	void (*release)(struct thread_stream *w);
};

#define THREAD_STREAM_EVENTS_BYTES_MAX (256L << 20)

/* Starts the work. `w` is on the heap, and is released and freed by its stream. */
int thread_stream_start(struct thread_stream *w, void (*run)(struct thread_stream *w),
		void (*release)(struct thread_stream *w), struct fh_error *err);

/* Sends an event to the page. Only the work's own thread calls it. */
void thread_stream_tell(struct thread_stream *w, const char *name, const struct buf *json);

/* Called in the thread: true if nobody wants the result any more. */
static inline bool thread_stream_is_stopped(struct thread_stream *w)
{
	return atomic_load(&w->stopped);
}

#endif
