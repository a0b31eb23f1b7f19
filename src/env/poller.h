/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_POLLER_H
#define ENV_POLLER_H

#include "base/error.h"
#include "base/waits.h"
#include "env/deadlines.h"
#include "env/waker.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Drives the work of many items from one thread. An epoll has all their descriptors; a timer has
 * the earliest of their deadlines. The cost of an item's work does not depend on the number of
 * other items.
 *
 * When an item first waits for a descriptor, the descriptor is added to the epoll, edge-triggered,
 * and stays. So an idle item costs an event for each burst, and no system call. An edge may hide
 * bytes that came earlier or were left unread. So poll(2) looks for such bytes after each advance
 * that did not end the work.
 *
 * A single thread uses a poller. Other threads may only use its waker.
 */
struct poll_item;

struct poll_ops {
	void (*waits)(struct poll_item *item, struct waits *w);
	/* Does the item's work, as far as that does not block. True: the work has ended. */
	bool (*advance)(struct poll_item *item);
	/* Ends the item's work with an error, because a descriptor can't be watched. */
	void (*fail)(struct poll_item *item, const struct fh_error *err);

	/*
	 * Returns true if the item's work is quick. Quick work mostly ends within microseconds, and
	 * waits for the same descriptors each time. Before the poller sleeps, it asks answered()
	 * whether quick work has ended.
	 */
	bool (*is_quick)(struct poll_item *item);
	/*
	 * Like waits(), but the end of quick work need not make a descriptor readable. Until the
	 * thread sleeps, the poller asks answered() instead.
	 */
	void (*waits_awake)(struct poll_item *item, struct waits *w);
	bool (*answered)(struct poll_item *item);
	/* Returns true if the item was interrupted, so that its next advance() ends the work. */
	bool (*is_interrupted)(struct poll_item *item);
	/* Waits 2 ms at most for the end of quick work. Called if no other item is at work. */
	void (*await_answer)(struct poll_item *item);
};

/* The poller's part of an item, which is an object whose work a poller drives. The item's owner
 * sets `ops`; all else is zeroed. */
struct poll_item {
	const struct poll_ops *ops;
	struct deadline deadline; /* time to advance the item; set while it is at work */
	bool polled;              /* the epoll may have descriptors of the item */
	bool registered;          /* the epoll has all descriptors of the item's quick work */
	bool missed;              /* an event came while the item was idle */
	struct poll_queue *queue; /* queue that the item is in; NULL: none */
	struct poll_item *next;   /* next item in `queue` */
};

#define POLLER_FRESH_MAX 64

struct poller {
	int epoll_fd;
	int timer_fd;
	/* Wakes the thread if a queue has items, or an item was interrupted. */
	struct waker *waker;
	int64_t armed_ns; /* when timer_fd fires; INT64_MAX: not set */
	struct deadlines deadlines;
	struct poll_queue {
		struct poll_item *first, *last;
	} kicked, done; /* `kicked`: items to advance; `done`: items for poller_take() to return */
	/* Items with quick work whose end the epoll does not report yet. They were asked for their
	 * descriptors by waits_awake(), not waits(). */
	struct poll_item *fresh[POLLER_FRESH_MAX];
	size_t n_fresh;
	/* poller_fd() was called, and not `lazy`. Other code may wait for that descriptor, so
	 * `fresh` stays empty. */
	bool fd_given;
};

void poller_init(struct poller *p);
int poller_open(struct poller *p, struct fh_error *err);
void poller_release(struct poller *p);

/* Adds an item to the poller when its work has begun. poller_take() gives the item when the work is
 * over. */
void poller_add(struct poller *p, struct poll_item *item);
/* Adds an item whose work has ended already, for poller_take() to return. */
void poller_add_done(struct poller *p, struct poll_item *item);

/*
 * Removes an item from the poller. Call it before the item's descriptors are closed or it is freed.
 * The item may be one that was never added.
 */
void poller_forget(struct poller *p, struct poll_item *item);

/*
 * Removes a descriptor that an item has waited for. Call it before closing the descriptor. It may
 * be -1, or not watched.
 */
void poller_unwatch(struct poller *p, int fd);

/* Returns a descriptor that is readable when poller_wait() has something to do. `lazy`: only if
 * poller_wait() has ended without an item since the last poller_add(). */
int poller_fd(struct poller *p, bool lazy);

/*
 * Advances items until the work of one has ended, a signal came, or timeout_ms ran out (-1: never).
 */
int poller_wait(struct poller *p, int timeout_ms, struct fh_error *err);

/* Returns an item whose work has ended, each item once; NULL: there is no other. */
struct poll_item *poller_take(struct poller *p);
void poller_untake(struct poll_item *item); /* removes an item that poller_take() need not return */

/*
 * Keeps the poller's descriptor readable if something is left to do. Call it after the last
 * poller_take().
 */
void poller_end_wait(struct poller *p);

#endif
