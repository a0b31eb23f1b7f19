/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/flusher.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/*
 * Milliseconds that the thread waits after a flusher_mark(), before it flushes all marked files. So
 * a marked file should be on the disk within a second.
 */
#define FLUSH_DELAY_MS 400

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t marked = PTHREAD_COND_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static struct flushed_file *files;
static bool running;

static struct flushed_file *flusher_next(void)
{
	struct flushed_file *f = files;

	while (f && !f->dirty)
		f = f->next;
	return f;
}

/* Syncs one file to the disk. The caller holds the mutex, which is released during fdatasync(). */
static void flusher_flush(struct flushed_file *f)
{
	int r;

	f->dirty = false;
	f->busy = true;
	pthread_mutex_unlock(&lock);
	r = fdatasync(f->fd) < 0 ? errno : 0;
	pthread_mutex_lock(&lock);
	f->busy = false;
	if (r && !f->error)
		f->error = r;
	pthread_cond_broadcast(&idle);
}

static void *flusher_run(void *unused)
{
	const struct timespec delay = { .tv_nsec = FLUSH_DELAY_MS * NS_PER_MS };
	struct flushed_file *f;

	pthread_mutex_lock(&lock);
	for (;;) {
		while (!flusher_next())
			pthread_cond_wait(&marked, &lock);
		pthread_mutex_unlock(&lock);
		nanosleep(&delay, NULL);
		pthread_mutex_lock(&lock);
		while ((f = flusher_next()))
			flusher_flush(f);
	}
	return unused;
}

/* Starts the thread that syncs files, if it does not run yet. The caller holds the mutex. */
static int flusher_start(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, flusher_run, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int flusher_add(struct flushed_file *file, struct fh_error *err)
{
	int r;

	pthread_mutex_lock(&lock);
	r = running ? 0 : flusher_start();
	if (r) {
		pthread_mutex_unlock(&lock);
		return error_set(err, r, "start the thread that flushes files");
	}
	running = true;
	file->dirty = file->busy = false;
	file->error = 0;
	file->next = files;
	files = file;
	pthread_mutex_unlock(&lock);
	return 0;
}

void flusher_remove(struct flushed_file *file)
{
	pthread_mutex_lock(&lock);
	for (struct flushed_file **p = &files; *p; p = &(*p)->next) {
		if (*p == file) {
			*p = file->next;
			break;
		}
	}
	while (file->busy)
		pthread_cond_wait(&idle, &lock);
	pthread_mutex_unlock(&lock);
}

int flusher_mark(struct flushed_file *file)
{
	int error;

	pthread_mutex_lock(&lock);
	if (!file->dirty) {
		file->dirty = true;
		pthread_cond_signal(&marked);
	}
	error = file->error;
	pthread_mutex_unlock(&lock);
	return error;
}
