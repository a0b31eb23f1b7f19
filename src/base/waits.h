/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WAITS_H
#define BASE_WAITS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What something that is under way waits for: descriptors to become readable (or writable), and a
 * time. A thing with a pollable form has `x_waits(x, &waits)`, which adds its own, and
 * `x_advance(x)`, which is called when any of them came, does what can be done without blocking, and
 * says whether it is over. A spurious call does no harm.
 */
#define WAITS_MAX 16

struct waits {
	struct pollfd fds[WAITS_MAX];
	size_t n;
	int64_t deadline_ns; /* of clock_now_ns(); INT64_MAX: none */
};

#define WAITS_INIT                                                                                 \
	{                                                                                          \
		.n = 0, .deadline_ns = INT64_MAX                                                   \
	}

static inline void waits_add(struct waits *w, int fd, short events)
{
	if (fd >= 0 && w->n < WAITS_MAX)
		w->fds[w->n++] = (struct pollfd){ .fd = fd, .events = events };
}

static inline void waits_until(struct waits *w, int64_t deadline_ns)
{
	if (deadline_ns < w->deadline_ns)
		w->deadline_ns = deadline_ns;
}

/* Blocks until one of them comes. EINTR ends it too. */
void waits_poll(struct waits *w);

#endif
