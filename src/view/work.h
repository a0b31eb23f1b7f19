/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_WORK_H
#define VIEW_WORK_H

#include "base/job.h"
#include "view/stream.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * A stream whose events come from a thread, so that slow work holds up no other answer. It is the
 * first member of the struct of its work.
 */
struct view_work {
	struct stream stream;
	struct job *job;
	pthread_mutex_t lock;
	struct buf events; /* events that were not taken yet, under the lock */
	atomic_bool stopped;
	void (*run)(struct view_work *w); /* called in the thread */
	void (*release)(struct view_work *w);
};

#define WORK_EVENTS_BYTES_MAX (256L << 20)

/* Starts the work. `w` is on the heap, and is released and freed by its stream. */
int work_start(struct view_work *w, void (*run)(struct view_work *w),
		void (*release)(struct view_work *w), struct fh_error *err);

/* Sends an event to the page. Only the work's own thread calls it. */
void work_tell(struct view_work *w, const char *name, const struct buf *json);

/* Called in the thread: true if nobody wants the result any more. */
static inline bool work_is_stopped(struct view_work *w)
{
	return atomic_load(&w->stopped);
}

#endif
