/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * A request to end work that waits, from any thread or a signal handler. The waiting thread polls
 * the descriptor of the request beside its own. The request stays until it is taken.
 *
 * A zeroed `struct cancel` needs cancel_init() first. NULL means a request that never comes.
 */
struct cancel {
	atomic_bool asked;
	atomic_int fd; /* eventfd, made when a thread first waits; -1: none */
};

void cancel_init(struct cancel *c);
void cancel_release(struct cancel *c);

/* Asks to end the work. Safe in a signal handler. */
void cancel_ask(struct cancel *c);
bool cancel_is_asked(const struct cancel *c);
/* Forgets the request. Returns whether there was one. */
bool cancel_take(struct cancel *c);

/*
 * Returns a descriptor that is readable once the request was made. A thread that polls it reads it
 * by cancel_drain() before it looks for the request. -1: there is no descriptor left.
 */
int cancel_fd(struct cancel *c);
void cancel_drain(const struct cancel *c);

/* Sets the error of work that was ended: -ECANCELED. */
int cancel_refuse(struct fh_error *err);

/* Lock a mutex or a file's descriptor (flock(2), exclusively). -ECANCELED: the request was made. */
int cancel_lock_mutex(struct cancel *c, pthread_mutex_t *mutex, struct fh_error *err);
int cancel_lock_file(struct cancel *c, int fd, const char *path, struct fh_error *err);

#endif
