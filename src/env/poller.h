/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_POLLER_H
#define ENV_POLLER_H

#include "base/error.h"

#include <fumehood/env.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The pollable form: one epoll for the descriptors of all environments of a gym, one timer for the
 * earliest of their deadlines. The cost of a step does not depend on how many others are alive.
 *
 * Descriptors are registered when they are first waited for, edge-triggered, and stay: an idle
 * environment whose agent left something running costs an event for each burst, and no call. What
 * an edge may hide (bytes that came before, bytes left unread) is looked for with poll(2) after
 * each advance that did not end the work.
 */
#define FRESH_MAX 64

struct poller {
	int epoll_fd;
	int timer_fd;
	int wake_fd;          /* an eventfd: there is something in a queue, or `interrupted` */
	int64_t armed_ns;     /* when the timer fires; INT64_MAX: not set */
	struct fh_env **heap; /* those at work, the earliest deadline first */
	size_t n_heap, heap_size;
	struct poll_queue {
		struct fh_env *first, *last;
	} kicked, done;                  /* to be advanced; to be given out */
	struct fh_env *fresh[FRESH_MAX]; /* whose shells wake nobody yet: see look_out() */
	size_t n_fresh;
	bool fd_given;           /* others may wait for it, so that no environment is fresh */
	atomic_bool interrupted; /* some environment was asked to end its work */
};

/* An environment's part; zeroed for one that was never polled. */
struct poll_slot {
	bool polled;     /* some descriptor of it is in the epoll */
	bool registered; /* all of its session's are */
	bool missed;     /* an event came while it was idle */
	bool in_heap;    /* at work, by this form */
	size_t at;       /* in the heap */
	int64_t deadline_ns;
	struct poll_queue *queue; /* NULL: in none */
	struct fh_env *next;      /* in it */
};

void poller_init(struct poller *p);
int poller_open(struct poller *p, struct fh_error *err);
void poller_release(struct poller *p);

/* After a begin: the environment will come out of fh_gym_wait() when its work is over. */
void poller_add(struct poller *p, struct fh_env *env);

/* Before the environment's sandbox is closed, and another follows. */
void poller_unwatch(struct poller *p, const struct fh_env *env);

/* Before any other descriptor that an environment has waited for is closed. */
void poller_unwatch_fd(struct poller *p, int fd);

/* Before the environment's descriptors are closed. Fine for one that was never polled. */
void poller_forget(struct poller *p, struct fh_env *env);

/* Makes fh_gym_wait() look at the environments' `interrupted`. Safe in a signal handler. */
void poller_interrupt(struct poller *p);

#endif
