/* SPDX-License-Identifier: Apache-2.0 */
#include "env/poller.h"

#include "base/clock.h"
#include "base/scope.h"
#include "env/deadlines.h"
#include "env/env.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#define EVENTS_MAX 64
#define QUICK_NS 20000

/* --- open and close --------------------------------------------------------------------------- */

void poller_init(struct poller *p)
{
	*p = (struct poller){
		.epoll_fd = -1,
		.timer_fd = -1,
		.wake_fd = -1,
		.armed_ns = INT64_MAX,
	};
}

static int watch_own(struct poller *p, int *fd, struct fh_error *err)
{
	/* Environments are told apart from these two by their addresses. */
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = fd };

	if (*fd < 0 || epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, *fd, &event) < 0)
		return error_set(err, errno, "set up what environments wait with");
	return 0;
}

int poller_open(struct poller *p, struct fh_error *err)
{
	int r;

	p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	p->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = watch_own(p, &p->timer_fd, err);
	return r < 0 ? r : watch_own(p, &p->wake_fd, err);
}

void poller_release(struct poller *p)
{
	close_fd(&p->epoll_fd);
	close_fd(&p->timer_fd);
	close_fd(&p->wake_fd);
	free(p->heap);
	poller_init(p);
}

/* --- queues and the timer --------------------------------------------------------------------- */

static void wake(struct poller *p)
{
	uint64_t one = 1;

	/* It can only fail when it is readable already. */
	(void)!write(p->wake_fd, &one, sizeof(one));
}

static void enqueue(struct poll_queue *q, struct fh_env *env)
{
	if (env->slot.queue)
		return;
	env->slot.queue = q;
	env->slot.next = NULL;
	if (q->first)
		q->last->slot.next = env;
	else
		q->first = env;
	q->last = env;
}

static struct fh_env *dequeue(struct poll_queue *q)
{
	struct fh_env *env = q->first;

	if (!env)
		return NULL;
	q->first = env->slot.next;
	env->slot.queue = NULL;
	return env;
}

static void unqueue(struct fh_env *env)
{
	struct poll_queue *q = env->slot.queue;
	struct fh_env *before = NULL;

	if (!q)
		return;
	for (struct fh_env *e = q->first; e != env; e = e->slot.next)
		before = e;
	if (before)
		before->slot.next = env->slot.next;
	else
		q->first = env->slot.next;
	if (q->last == env)
		q->last = before;
	env->slot.queue = NULL;
}

/* The timer is only ever set to an earlier time: one that fires too early costs less than
 * setting it at every step. */
static void arm(struct poller *p)
{
	int64_t first = deadlines_first(p);
	struct itimerspec t = { 0 };

	if (first >= p->armed_ns)
		return;
	if (first < 1)
		first = 1;
	t.it_value = (struct timespec){ .tv_sec = first / NS_PER_S, .tv_nsec = first % NS_PER_S };
	timerfd_settime(p->timer_fd, TFD_TIMER_ABSTIME, &t, NULL);
	p->armed_ns = first;
}

/* --- environments ----------------------------------------------------------------------------- */

static void drop_fresh(struct poller *p, const struct fh_env *env)
{
	for (size_t i = 0; i < p->n_fresh; i++)
		if (p->fresh[i] == env)
			p->fresh[i--] = p->fresh[--p->n_fresh];
}

/* From now on their ends wake the epoll; those that are over are due at once. */
static void listen_to_fresh(struct poller *p)
{
	while (p->n_fresh) {
		struct fh_env *env = p->fresh[--p->n_fresh];
		struct waits w = WAITS_INIT;

		env_waits(env, &w);
		deadlines_put(p, env, w.deadline_ns);
	}
}

/* A descriptor that is there already says EEXIST, and all is well. */
static void watch(struct poller *p, struct fh_env *env, const struct waits *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct epoll_event event = {
			.events = (uint32_t)w->fds[i].events | EPOLLET,
			.data.ptr = env,
		};

		epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, w->fds[i].fd, &event);
	}
}

static void over(struct poller *p, struct fh_env *env)
{
	deadlines_remove(p, env);
	drop_fresh(p, env);
	unqueue(env);
	enqueue(&p->done, env);
}

/* Work that goes on: what it waits for may have changed, or may have come already. */
static void wait_on(struct poller *p, struct fh_env *env)
{
	struct waits w = WAITS_INIT;

	env_waits(env, &w);
	watch(p, env, &w);
	deadlines_put(p, env, w.deadline_ns);
	if (poll(w.fds, w.n, 0) > 0)
		enqueue(&p->kicked, env);
}

static void advance(struct poller *p, struct fh_env *env)
{
	if (!env->slot.in_heap)
		env->slot.missed = true;
	else if (env_advance(env))
		over(p, env);
	else
		wait_on(p, env);
}

void poller_add(struct poller *p, struct fh_env *env)
{
	struct waits w = WAITS_INIT;

	env->slot.polled = true;
	if (env->work == WORK_DONE) {
		enqueue(&p->done, env);
		wake(p);
		return;
	}
	/* A session's descriptors stay from step to step; any other work brings its own. */
	if (env->slot.registered && env->work == WORK_COMMAND && p->n_fresh < FRESH_MAX &&
			!p->fd_given) {
		session_waits_awake(env->session, &w);
		p->fresh[p->n_fresh++] = env;
	} else {
		env_waits(env, &w);
		watch(p, env, &w);
	}
	env->slot.registered = env->work == WORK_COMMAND || env->slot.registered;
	deadlines_put(p, env, w.deadline_ns);
	if (env->slot.missed) {
		env->slot.missed = false;
		enqueue(&p->kicked, env);
		wake(p);
	}
	arm(p);
}

/* Closing would do, if no fork of this process held a copy. */
void poller_unwatch_fd(struct poller *p, int fd)
{
	epoll_ctl(p->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void poller_unwatch(struct poller *p, const struct fh_env *env)
{
	int fds[SANDBOX_FDS] = { -1, -1 };

	if (env->slot.polled && env->sb)
		sandbox_fds(env->sb, fds);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			poller_unwatch_fd(p, fds[i]);
}

void poller_forget(struct poller *p, struct fh_env *env)
{
	deadlines_remove(p, env);
	drop_fresh(p, env);
	unqueue(env);
	poller_unwatch(p, env);
	env->slot = (struct poll_slot){ 0 };
}

void poller_interrupt(struct poller *p)
{
	atomic_store(&p->interrupted, true);
	wake(p);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void run_interrupted(struct poller *p)
{
	if (!atomic_exchange(&p->interrupted, false))
		return;
	for (size_t i = 0; i < p->n_heap; i++)
		if (atomic_load(&p->heap[i]->interrupted))
			enqueue(&p->kicked, p->heap[i]);
}

/* Each once: what is kicked meanwhile has its turn in the next round. */
static void run_kicked(struct poller *p)
{
	struct fh_env *last = p->kicked.last;
	struct fh_env *env;

	if (!p->kicked.first)
		return;
	do {
		env = dequeue(&p->kicked);
		advance(p, env);
	} while (env != last && p->kicked.first);
}

static void run_expired(struct poller *p)
{
	int64_t now = clock_now_ns();

	while (deadlines_first(p) <= now) {
		struct fh_env *env = p->heap[0];

		/* Out of the way until its advance has set its next deadline. */
		deadlines_put(p, env, INT64_MAX);
		enqueue(&p->kicked, env);
	}
	run_kicked(p);
}

/*
 * Before a sleep: commands that were begun since the last one may be over by now, or in a moment. A shell that
 * has to wake this process takes longer for that than for a quick command.
 */
static void look_out(struct poller *p, int64_t deadline_ns)
{
	int64_t end_ns = clock_now_ns() + QUICK_NS;

	if (p->n_fresh == 1 && p->n_heap == 1 && deadline_ns == INT64_MAX)
		session_await_quick(p->fresh[0]->session); /* there is nothing else to hear */
	while (p->n_fresh && !p->kicked.first && !p->done.first) {
		for (size_t i = p->n_fresh; i-- > 0;)
			if (session_answered(p->fresh[i]->session)) {
				enqueue(&p->kicked, p->fresh[i]);
				p->fresh[i] = p->fresh[--p->n_fresh];
			}
		if (clock_now_ns() >= end_ns)
			listen_to_fresh(p);
	}
}

/* False if a signal came instead. */
static bool run_events(struct poller *p, int timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t count;
	int n = epoll_wait(p->epoll_fd, events, EVENTS_MAX, timeout_ms);

	for (int i = 0; i < n; i++) {
		void *from = events[i].data.ptr;

		if (from == &p->timer_fd || from == &p->wake_fd)
			(void)!read(*(int *)from, &count, sizeof(count));
		else
			advance(p, from);
		if (from == &p->timer_fd)
			p->armed_ns = INT64_MAX;
	}
	return n >= 0;
}

static int give_out(struct poller *p, struct fh_env **out_done, size_t max)
{
	size_t n = 0;

	while (n < max && p->done.first)
		out_done[n++] = dequeue(&p->done);
	/* What is left must keep the descriptor readable. */
	if (p->done.first || p->kicked.first)
		wake(p);
	return (int)n;
}

int fh_gym_fd(struct fh_gym *gym)
{
	struct poller *p = &gym->poller;

	p->fd_given = true;
	listen_to_fresh(p);
	arm(p);
	return p->epoll_fd;
}

static int sleep_ms(const struct poller *p, int64_t deadline_ns)
{
	bool idle = !p->done.first && !p->kicked.first && deadlines_first(p) > 0;

	return idle ? clock_ms_left(deadline_ns) : 0;
}

int fh_gym_wait(struct fh_gym *gym, int timeout_ms, struct fh_env **out_done, size_t max,
		struct fh_error *err)
{
	struct poller *p = &gym->poller;
	int64_t deadline_ns = INT64_MAX;

	if (max == 0 || max > INT_MAX)
		return error_say(
				err, EINVAL, "fh_gym_wait needs room for at least one environment");
	if (timeout_ms >= 0)
		deadline_ns = clock_now_ns() + timeout_ms * NS_PER_MS;
	for (;;) {
		bool quiet;

		look_out(p, deadline_ns);
		quiet = run_events(p, sleep_ms(p, deadline_ns));
		run_interrupted(p);
		run_expired(p);
		arm(p);
		if (p->done.first || !quiet || clock_ms_left(deadline_ns) == 0)
			return give_out(p, out_done, max);
	}
}

/* --- the API's pollable form ------------------------------------------------------------------ */

int fh_env_reset_begin(struct fh_env *env, uint64_t seed, struct fh_error *err)
{
	int r = reset_begin(env, seed, err);

	if (r == 0)
		poller_add(&env->gym->poller, env);
	return r;
}

int fh_env_step_begin(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	int r = step_begin(env, action, err);

	if (r == 0)
		poller_add(&env->gym->poller, env);
	return r;
}

int fh_env_end(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	if (env->work == WORK_NONE)
		return error_say(err, EPROTO, "nothing was begun");
	if (env->work != WORK_DONE)
		return error_say(err, EBUSY, "the reset or step is not over yet");
	unqueue(env);
	return env_take(env, out, err);
}
