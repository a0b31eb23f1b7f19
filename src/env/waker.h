/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_WAKER_H
#define ENV_WAKER_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Wakes the thread of a poller, from any thread or a signal handler. The poller and the
 * interrupters of its items share the waker, so that an interrupter may outlive the poller.
 */
struct waker {
	atomic_uint n_refs;
	atomic_bool interrupted; /* some item was interrupted */
	int fd;                  /* eventfd, readable if the thread has something to do */
};

/* Makes a waker with one reference. If no descriptor is left, `fd` is -1, and errno is set. */
struct waker *waker_new(void);
struct waker *waker_ref(struct waker *w);
void waker_unref(struct waker *w); /* NULL is fine */

void waker_wake(struct waker *w);
/* Wakes the thread to look for items that were interrupted. */
void waker_interrupt(struct waker *w);

#endif
