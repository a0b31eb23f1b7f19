/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cancel.h"

#include "base/scope.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/file.h>

/* No descriptor tells when a lock becomes free. A waiting thread tries again after this time. */
#define LOCK_PAUSE_MS 20

void cancel_init(struct cancel *c)
{
	atomic_init(&c->asked, false);
	atomic_init(&c->fd, -1);
}

void cancel_release(struct cancel *c)
{
	int fd = atomic_exchange(&c->fd, -1);

	close_fd(&fd);
}

/*
 * A waiting thread makes the descriptor, then looks for the request. An asking thread makes the
 * request, then looks for the descriptor. So at least one of them finds what the other has made.
 */
void cancel_ask(struct cancel *c)
{
	uint64_t one = 1;
	int fd;

	atomic_store(&c->asked, true);
	fd = atomic_load(&c->fd);
	if (fd >= 0)
		/* A write can only fail when the eventfd is readable already. */
		(void)!write(fd, &one, sizeof(one));
}

bool cancel_is_asked(const struct cancel *c)
{
	return c && atomic_load(&c->asked);
}

bool cancel_take(struct cancel *c)
{
	return cancel_is_asked(c) && atomic_exchange(&c->asked, false);
}

int cancel_fd(struct cancel *c)
{
	int fd = c ? atomic_load(&c->fd) : -1, none = -1;

	if (!c || fd >= 0)
		return fd;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0 || atomic_compare_exchange_strong(&c->fd, &none, fd))
		return fd;
	close(fd);
	return none;
}

void cancel_drain(const struct cancel *c)
{
	int fd = atomic_load(&c->fd);
	uint64_t count;

	if (fd >= 0)
		(void)!read(fd, &count, sizeof(count));
}

int cancel_refuse(struct fh_error *err)
{
	return error_say(err, ECANCELED, "it was interrupted");
}

/* Pauses before another try. -ECANCELED: the request was made. */
static int cancel_pause(struct cancel *c, struct fh_error *err)
{
	struct pollfd p = { .fd = cancel_fd(c), .events = POLLIN };

	if (!cancel_is_asked(c))
		poll(&p, 1, LOCK_PAUSE_MS);
	return cancel_is_asked(c) ? cancel_refuse(err) : 0;
}

int cancel_lock_mutex(struct cancel *c, pthread_mutex_t *mutex, struct fh_error *err)
{
	while (pthread_mutex_trylock(mutex)) {
		int r = cancel_pause(c, err);

		if (r < 0)
			return r;
	}
	return 0;
}

int cancel_lock_file(struct cancel *c, int fd, const char *path, struct fh_error *err)
{
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int r;

		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_set(err, errno, "lock '%s'", path);
		r = cancel_pause(c, err);
		if (r < 0)
			return r;
	}
	return 0;
}
