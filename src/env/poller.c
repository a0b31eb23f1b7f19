/* SPDX-License-Identifier: Apache-2.0 */
#include "env/poller.h"

#include "base/clock.h"
#include "base/scope.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#define EVENTS_MAX 64
#define QUICK_NS 20000

/* --- open and close --------------------------------------------------------------------------- */

void poller_init(struct poller *p)
{
	*p = (struct poller){
		.epoll_fd = -1,
		.timer_fd = -1,
		.armed_ns = INT64_MAX,
	};
}

int poller_open(struct poller *p, struct fh_error *err)
{
	int *own[2];

	p->waker = waker_new();
	p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	p->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	own[0] = &p->timer_fd;
	own[1] = &p->waker->fd;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		/* The address of the descriptor in an event tells this descriptor from items of the
		 * poller. */
		struct epoll_event event = { .events = EPOLLIN, .data.ptr = own[i] };

		if (*own[i] < 0 || epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, *own[i], &event) < 0)
			return error_set(err, errno, "set up the poller of environments");
	}
	return 0;
}

void poller_release(struct poller *p)
{
	close_fd(&p->epoll_fd);
	close_fd(&p->timer_fd);
	waker_unref(p->waker);
	free(p->deadlines.heap);
	poller_init(p);
}

/* --- queues and the timer --------------------------------------------------------------------- */

static void poller_queue_add(struct poll_queue *q, struct poll_item *item)
{
	if (item->queue)
		return;
	item->queue = q;
	item->next = NULL;
	if (q->first)
		q->last->next = item;
	else
		q->first = item;
	q->last = item;
}

static void poller_queue_remove(struct poll_item *item)
{
	struct poll_queue *q = item->queue;
	struct poll_item *before = NULL, **at;

	if (!q)
		return;
	for (at = &q->first; *at != item; at = &before->next)
		before = *at;
	*at = item->next;
	if (q->last == item)
		q->last = before;
	item->queue = NULL;
}

static struct poll_item *poller_queue_take(struct poll_queue *q)
{
	struct poll_item *item = q->first;

	if (item)
		poller_queue_remove(item);
	return item;
}

/*
 * Sets the timer to the earliest deadline. Never moves it to a later time: firing too early costs
 * less than setting it at every step.
 */
static void poller_arm(struct poller *p)
{
	int64_t first = deadlines_first(&p->deadlines);
	struct itimerspec t = { 0 };

	if (first >= p->armed_ns)
		return;
	if (first < 1)
		first = 1;
	t.it_value = (struct timespec){ .tv_sec = first / NS_PER_S, .tv_nsec = first % NS_PER_S };
	timerfd_settime(p->timer_fd, TFD_TIMER_ABSTIME, &t, NULL);
	p->armed_ns = first;
}

/* --- items ------------------------------------------------------------------------------------ */

static struct poll_item *poller_item_of(struct deadline *d)
{
	return (struct poll_item *)(void *)((char *)d - offsetof(struct poll_item, deadline));
}

static void poller_remove(struct poller *p, struct poll_item *item)
{
	deadlines_clear(&p->deadlines, &item->deadline);
	for (size_t i = 0; i < p->n_fresh; i++)
		if (p->fresh[i] == item)
			p->fresh[i--] = p->fresh[--p->n_fresh];
	poller_queue_remove(item);
}

/*
 * Empties `fresh`, the list of items with quick work that the epoll does not report yet. From now
 * on the epoll reports when their work ends. An item whose work has ended already is advanced at
 * once.
 */
static void poller_listen_to_fresh(struct poller *p)
{
	while (p->n_fresh) {
		struct poll_item *item = p->fresh[--p->n_fresh];
		struct waits w = WAITS_INIT;

		item->ops->waits(item, &w);
		deadlines_set(&p->deadlines, &item->deadline, w.deadline_ns);
	}
}

static void poller_finish(struct poller *p, struct poll_item *item)
{
	poller_remove(p, item);
	poller_queue_add(&p->done, item);
}

/*
 * Adds the item's descriptors to the epoll. False: that failed, and the item's work ends with the
 * error.
 */
static bool poller_watch(struct poller *p, struct poll_item *item, const struct waits *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct epoll_event event = {
			.events = (uint32_t)w->fds[i].events | EPOLLET,
			.data.ptr = item,
		};
		struct fh_error err;

		/* EEXIST: the descriptor is in the epoll from an earlier wait */
		if (epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, w->fds[i].fd, &event) == 0 ||
				errno == EEXIST)
			continue;
		error_set(&err, errno, "watch a descriptor of the environment");
		item->ops->fail(item, &err);
		poller_finish(p, item);
		return false;
	}
	return true;
}

static void poller_advance(struct poller *p, struct poll_item *item)
{
	struct waits w = WAITS_INIT;

	if (!item->deadline.is_set) {
		item->missed = true;
		return;
	}
	if (item->ops->advance(item)) {
		poller_finish(p, item);
		return;
	}
	/* The item may wait for other descriptors now, and some may be ready already: watch and
	 * poll them. */
	item->ops->waits(item, &w);
	if (!poller_watch(p, item, &w))
		return;
	deadlines_set(&p->deadlines, &item->deadline, w.deadline_ns);
	if (poll(w.fds, w.n, 0) > 0)
		poller_queue_add(&p->kicked, item);
}

void poller_add(struct poller *p, struct poll_item *item)
{
	bool quick = item->ops->is_quick(item);
	struct waits w = WAITS_INIT;

	item->polled = true;
	/*
	 * Quick work waits for the same descriptors each time: they stay in the epoll. Other work
	 * may wait for others.
	 */
	if (item->registered && quick && p->n_fresh < POLLER_FRESH_MAX && !p->fd_given) {
		item->ops->waits_awake(item, &w);
		p->fresh[p->n_fresh++] = item;
	} else {
		item->ops->waits(item, &w);
		if (!poller_watch(p, item, &w)) {
			waker_wake(p->waker);
			return;
		}
	}
	item->registered = quick || item->registered;
	deadlines_set(&p->deadlines, &item->deadline, w.deadline_ns);
	if (item->missed || item->ops->is_interrupted(item)) {
		item->missed = false;
		poller_queue_add(&p->kicked, item);
		waker_wake(p->waker);
	}
	poller_arm(p);
}

void poller_add_done(struct poller *p, struct poll_item *item)
{
	item->polled = true;
	poller_queue_add(&p->done, item);
	waker_wake(p->waker);
}

void poller_unwatch(struct poller *p, int fd)
{
	/* Ignore a failure: closing the descriptor ends the watch too. Only a copy of the
	 * descriptor in a forked process would keep the watch. */
	if (fd >= 0)
		epoll_ctl(p->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void poller_forget(struct poller *p, struct poll_item *item)
{
	/* Touch nothing of the poller for an item that it does not have: another thread may. */
	if (!item->polled && !item->queue && !item->deadline.is_set)
		return;
	poller_remove(p, item);
	item->polled = item->registered = item->missed = false;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void poller_run_interrupted(struct poller *p)
{
	if (!atomic_exchange(&p->waker->interrupted, false))
		return;
	for (size_t i = 0; i < p->deadlines.n; i++) {
		struct poll_item *item = poller_item_of(p->deadlines.heap[i]);

		if (item->ops->is_interrupted(item))
			poller_queue_add(&p->kicked, item);
	}
}

static void poller_run_expired(struct poller *p)
{
	int64_t now = clock_now_ns();
	struct poll_item *item, *last;

	while (deadlines_first(&p->deadlines) <= now) {
		item = poller_item_of(p->deadlines.heap[0]);
		/* Clear the deadline until the item's advance sets the next one. */
		deadlines_set(&p->deadlines, &item->deadline, INT64_MAX);
		poller_queue_add(&p->kicked, item);
	}
	if (!p->kicked.first)
		return;
	/*
	 * Advance each item once: an item that is kicked meanwhile has its turn in the next round.
	 */
	last = p->kicked.last;
	do {
		item = poller_queue_take(&p->kicked);
		poller_advance(p, item);
	} while (item != last && p->kicked.first);
}

/*
 * Looks for up to QUICK_NS whether quick work has ended, before the thread sleeps. Being woken
 * takes longer than a quick command.
 */
static void poller_look_out(struct poller *p, int64_t deadline_ns)
{
	int64_t end_ns = clock_now_ns() + QUICK_NS;

	if (p->n_fresh == 1 && p->deadlines.n == 1 && deadline_ns == INT64_MAX)
		p->fresh[0]->ops->await_answer(p->fresh[0]);
	while (p->n_fresh && !p->kicked.first && !p->done.first) {
		for (size_t i = p->n_fresh; i-- > 0;)
			if (p->fresh[i]->ops->answered(p->fresh[i])) {
				poller_queue_add(&p->kicked, p->fresh[i]);
				p->fresh[i] = p->fresh[--p->n_fresh];
			}
		if (clock_now_ns() >= end_ns)
			poller_listen_to_fresh(p);
	}
}

/* Handles events of the epoll. Returns 0 or a negative errno; -EINTR: a signal came. */
static int poller_run_events(struct poller *p, int timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t count;
	int n = epoll_wait(p->epoll_fd, events, EVENTS_MAX, timeout_ms);

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		void *from = events[i].data.ptr;

		if (from == &p->timer_fd || from == &p->waker->fd)
			(void)!read(*(int *)from, &count, sizeof(count));
		else
			poller_advance(p, from);
		if (from == &p->timer_fd)
			p->armed_ns = INT64_MAX;
	}
	return 0;
}

int poller_fd(struct poller *p, bool lazy)
{
	p->fd_given = p->fd_given || !lazy;
	poller_listen_to_fresh(p);
	poller_arm(p);
	return p->epoll_fd;
}

int poller_wait(struct poller *p, int timeout_ms, struct fh_error *err)
{
	int64_t deadline_ns = INT64_MAX;

	if (timeout_ms >= 0)
		deadline_ns = clock_now_ns() + timeout_ms * NS_PER_MS;
	for (;;) {
		bool idle;
		int r;

		poller_look_out(p, deadline_ns);
		idle = !p->done.first && !p->kicked.first && deadlines_first(&p->deadlines) > 0;
		r = poller_run_events(p, idle ? clock_ms_left(deadline_ns) : 0);
		if (r < 0 && r != -EINTR)
			return error_set(err, -r, "wait for environments");
		poller_run_interrupted(p);
		poller_run_expired(p);
		poller_arm(p);
		if (p->done.first)
			return 0;
		if (r < 0 || clock_ms_left(deadline_ns) == 0) {
			poller_listen_to_fresh(p);
			poller_arm(p);
			return 0;
		}
	}
}

struct poll_item *poller_take(struct poller *p)
{
	return poller_queue_take(&p->done);
}

void poller_untake(struct poll_item *item)
{
	poller_queue_remove(item);
}

void poller_end_wait(struct poller *p)
{
	if (p->done.first || p->kicked.first)
		waker_wake(p->waker);
}
