/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_web.h"

#include "base/job.h"
#include "base/scope.h"
#include "cmd/view_token.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Longer than a page waits before it asks again. */
#define LINGER_MS 3000

void run_web_init(struct run_web *w)
{
	*w = (struct run_web){ .arena = ARENA_INIT, .stop_fd = -1, .ready_fd = -1 };
}

static void run_web_listening(void *user, const char *address)
{
	struct run_web *w = user;

	w->address = arena_strdup(&w->arena, address);
	(void)!write(w->ready_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

static int run_web_serve(void *arg, struct fh_error *err)
{
	const struct run_web *w = arg;

	return view_serve(&w->view, err);
}

/* Waits until the server listens. Fails if the server could not begin. */
static int run_web_await(struct run_web *w, struct fh_error *err)
{
	uint64_t ready;
	struct pollfd fds[] = { { .fd = w->ready_fd, .events = POLLIN },
		{ .fd = job_fd(w->thread), .events = POLLIN } };

	while (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno == EINTR)
		;
	if (fds[0].revents && read(w->ready_fd, &ready, sizeof(ready)) == sizeof(ready))
		return 0;
	return job_end(take_ptr(w->thread), err);
}

static int run_web_open(struct run_web *w, const char *out, int port, struct fh_error *err)
{
	auto_free char *place = realpath(out, NULL);
	int r;

	if (!place)
		return error_set(err, errno, "find '%s'", out);
	w->place = arena_strdup(&w->arena, place);
	w->view = (struct view_options){
		.places = { .items = &w->place, .n = 1 },
		.port = port,
		.listening = run_web_listening,
		.user = w,
	};
	r = view_token(&w->arena, &w->view.token, err);
	if (r < 0)
		return r;
	w->stop_fd = eventfd(0, EFD_CLOEXEC);
	w->ready_fd = eventfd(0, EFD_CLOEXEC);
	if (w->stop_fd < 0 || w->ready_fd < 0)
		return error_set(err, errno, "create an eventfd");
	w->view.stop_fd = w->stop_fd;
	r = takeover_new(&w->takeover, err);
	w->view.takeover = w->takeover;
	return r;
}

int run_web_start(struct run_web *w, const char *out, int port, struct fh_error *err)
{
	int r = run_web_open(w, out, port, err);

	if (r < 0)
		return r;
	r = job_begin(run_web_serve, w, "serve the page", &w->thread, err);
	if (r < 0)
		return r;
	r = run_web_await(w, err);
	if (r < 0)
		return r;
	fprintf(stderr, "%s#/live\n", w->address);
	return 0;
}

void run_web_linger(struct run_web *w, int stop_fd)
{
	struct pollfd stop = { .fd = stop_fd, .events = POLLIN };

	if (w->takeover && takeover_is_watched(w->takeover))
		poll(&stop, 1, LINGER_MS);
}

void run_web_release(struct run_web *w)
{
	if (w->thread) {
		(void)!write(w->stop_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
		job_end(take_ptr(w->thread), NULL);
	}
	takeover_free(take_ptr(w->takeover));
	close_fd(&w->stop_fd);
	close_fd(&w->ready_fd);
	arena_release(&w->arena);
}
