/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WAITS_H
#define BASE_WAITS_H

#include <assert.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The descriptors and the deadline that an unfinished operation waits for. An operation x has
 *
 * - `x_waits(x, &waits)`, which adds the descriptors and the deadline of x;
 * - `x_advance(x)`, which does the work that is possible without blocking. It returns true once x
 *   is finished. Call it when a descriptor is ready or the deadline has passed. Extra calls do no
 *   harm.
 */

/* Most descriptors in a `struct waits`. An operation x adds at most X_FDS. Code that waits for
 * several operations checks the sum with a static_assert. The last descriptor is for a request to
 * cancel (base/cancel.h). */
#define WAITS_MAX 17

struct waits {
	struct pollfd fds[WAITS_MAX];
	size_t n;
	int64_t deadline_ns; /* time of clock_now_ns() to stop waiting; INT64_MAX: no deadline */
};

#define WAITS_INIT                                                                                 \
	{                                                                                          \
		.n = 0, .deadline_ns = INT64_MAX                                                   \
	}

static inline void waits_add(struct waits *w, int fd, short events)
{
	if (fd < 0)
		return;
	assert(w->n < WAITS_MAX);
	w->fds[w->n++] = (struct pollfd){ .fd = fd, .events = events };
}

static inline void waits_until(struct waits *w, int64_t deadline_ns)
{
	if (deadline_ns < w->deadline_ns)
		w->deadline_ns = deadline_ns;
}

/* Blocks until a descriptor is ready, the deadline has passed, or a signal arrives. Returns false
 * if a signal arrived. */
bool waits_poll(struct waits *w);

#endif
