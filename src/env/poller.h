/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_POLLER_H
#define ENV_POLLER_H

#include "base/error.h"
#include "base/waits.h"
#include "env/deadlines.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Drives the work of many items from one thread. An epoll has all their descriptors; a timer has
 * the earliest of their deadlines. The cost of an item's work does not depend on the number of
 * others.
 *
 * When an item first waits for a descriptor, that is added to the epoll, edge-triggered, and stays.
 * So an idle item costs an event for each burst, and no system call. An edge may hide bytes that
 * came earlier or were left unread. So poll(2) looks for them after each advance that did not end
 * the work.
 *
 * A single thread uses a poller. Only poller_interrupt() may be called by any thread.
 */
struct poll_item;

struct poll_ops {
	void (*waits)(struct poll_item *item, struct waits *w);
	bool (*advance)(struct poll_item *item); /* true: its work is over */
	/* A descriptor can't be watched: the work is over, with this error. */
	void (*fail)(struct poll_item *item, const struct fh_error *err);

	/* Quick work mostly ends within microseconds, and waits for the same descriptors each time.
	 * Before the poller sleeps, it asks such an item whether its work is over. */
	bool (*is_quick)(const struct poll_item *item);
	void (*waits_awake)(struct poll_item *item,
			struct waits *w); /* no descriptor need tell the end */
	bool (*answered)(const struct poll_item *item);
	void (*await_answer)(struct
			poll_item *item); /* for 2 ms at most; called if nothing else can come */
};

/* The poller's part of an item. The item's owner sets `ops`; all else is zeroed. */
struct poll_item {
	const struct poll_ops *ops;
	struct deadline deadline; /* set while the item is at work */
	atomic_bool interrupted;  /* set by poller_interrupt(); the owner clears it */
	bool polled;              /* a descriptor of it is in the epoll */
	bool registered;          /* all descriptors of its quick work are */
	bool missed;              /* an event came while it was idle */
	struct poll_queue *queue; /* NULL: in none */
	struct poll_item *next;   /* in the queue */
};

#define POLLER_FRESH_MAX 64

struct poller {
	int epoll_fd;
	int timer_fd;
	int wake_fd;      /* an eventfd: something is in a queue, or `interrupted` */
	int64_t armed_ns; /* when the timer fires; INT64_MAX: not set */
	struct deadlines deadlines;
	struct poll_queue {
		struct poll_item *first, *last;
	} kicked, done;                            /* to be advanced; to be given out */
	struct poll_item *fresh[POLLER_FRESH_MAX]; /* began by waits_awake() */
	size_t n_fresh;
	bool fd_given;           /* others may wait for it, so no item is fresh */
	atomic_bool interrupted; /* some item is */
};

void poller_init(struct poller *p);
int poller_open(struct poller *p, struct fh_error *err);
void poller_release(struct poller *p);

/* Watches an item whose work has begun. poller_take() gives the item when the work is over. */
void poller_add(struct poller *p, struct poll_item *item);
void poller_add_done(struct poller *p, struct poll_item *item); /* the work is over already */

/* Before the item's descriptors are closed or it is freed. Fine for one that was never added. */
void poller_forget(struct poller *p, struct poll_item *item);

/* Before any descriptor is closed that an item has waited for. Fine for -1, and for one that was
 * not watched. */
void poller_unwatch(struct poller *p, int fd);

/* Interrupts the item's work: its next advance() sees `interrupted`. Safe in a signal handler. */
void poller_interrupt(struct poller *p, struct poll_item *item);

/* Readable when poller_wait() has something to do. */
int poller_fd(struct poller *p);

/* Advances items until some work is over, a signal came, or timeout_ms ran out (-1: never). */
int poller_wait(struct poller *p, int timeout_ms, struct fh_error *err);

/* An item whose work is over, once; NULL: there is no other. */
struct poll_item *poller_take(struct poller *p);
void poller_untake(struct poll_item *item); /* it need not be taken */

/* After the last poller_take(): keeps the descriptor readable if something is left to do. */
void poller_end_wait(struct poller *p);

#endif
