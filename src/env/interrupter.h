/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_INTERRUPTER_H
#define ENV_INTERRUPTER_H

#include "base/cancel.h"
#include "env/waker.h"

#include <fumehood/interrupter.h>

#include <stdint.h>

/* The members of an interrupter (fumehood/interrupter.h), which outlives its environment. */

struct fh_interrupter {
	atomic_uint n_refs;
	struct cancel cancel; /* the request; its descriptor wakes a thread that drives one
			       * environment */
	atomic_bool polled;   /* wake the thread of the poller, too */
	struct waker *waker;  /* waker of the gym's poller */
	uint64_t mark;        /* mark of the gym's process: base/fork_mark.h */
};

/* Makes an interrupter with one reference. */
struct fh_interrupter *interrupter_new(struct waker *waker, uint64_t mark);

#endif
