/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WAITS_H
#define BASE_WAITS_H

#include <assert.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The descriptors and the deadline that an unfinished operation waits for. An operation x has
 *
 * - `x_waits(x, &waits)`, which adds its own descriptors and deadline;
 * - `x_advance(x)`, which does what it can without blocking, and returns true once x is finished.
 *   Call it when any of the descriptors is ready or the deadline is over. Other calls do no harm.
 */

/* Each operation adds at most X_FDS descriptors. A caller that collects several operations checks
 * the sum by a static_assert. */
#define WAITS_MAX 16

struct waits {
	struct pollfd fds[WAITS_MAX];
	size_t n;
	int64_t deadline_ns; /* a time of clock_now_ns(); INT64_MAX: none */
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

/* Blocks until a descriptor is ready, the deadline is over, or a signal comes. */
void waits_poll(struct waits *w);

#endif
