/* SPDX-License-Identifier: Apache-2.0 */
#include "env/interrupter.h"

#include "base/fork_mark.h"
#include "base/mem.h"

#include <stdlib.h>

struct fh_interrupter *interrupter_new(struct waker *waker, uint64_t mark)
{
	struct fh_interrupter *i = xcalloc(1, sizeof(*i));

	atomic_init(&i->n_refs, 1);
	cancel_init(&i->cancel);
	i->waker = waker_ref(waker);
	i->mark = mark;
	return i;
}

void fh_interrupter_fire(struct fh_interrupter *i)
{
	if (!fork_is_marked(i->mark))
		return;
	cancel_ask(&i->cancel);
	if (atomic_load(&i->polled))
		waker_interrupt(i->waker);
}

void fh_interrupter_free(struct fh_interrupter *i)
{
	if (!i || atomic_fetch_sub(&i->n_refs, 1) > 1)
		return;
	cancel_release(&i->cancel);
	waker_unref(i->waker);
	free(i);
}
