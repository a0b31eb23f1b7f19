/* SPDX-License-Identifier: Apache-2.0 */
#include "env/waker.h"

#include "base/mem.h"
#include "base/scope.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct waker *waker_new(void)
{
	struct waker *w = xcalloc(1, sizeof(*w));

	atomic_init(&w->n_refs, 1);
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return w;
}

struct waker *waker_ref(struct waker *w)
{
	atomic_fetch_add(&w->n_refs, 1);
	return w;
}

void waker_unref(struct waker *w)
{
	if (!w || atomic_fetch_sub(&w->n_refs, 1) > 1)
		return;
	close_fd(&w->fd);
	free(w);
}

void waker_wake(struct waker *w)
{
	uint64_t one = 1;

	/* A write can only fail when the eventfd is readable already. */
	(void)!write(w->fd, &one, sizeof(one));
}

void waker_interrupt(struct waker *w)
{
	atomic_store(&w->interrupted, true);
	waker_wake(w);
}
