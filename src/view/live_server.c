/* SPDX-License-Identifier: Apache-2.0 */
#include "view/live_server.h"

#include "base/job.h"
#include "base/scope.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Longer than a page waits before it asks again. */
#define LINGER_MS 3000

void live_server_init(struct live_server *w)
{
	*w = (struct live_server){ .arena = ARENA_INIT, .stop_fd = -1, .ready_fd = -1 };
}

static void live_server_listening(void *user, const char *address)
{
	struct live_server *w = user;

	w->address = arena_strdup(&w->arena, address);
	(void)!write(w->ready_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

static int live_server_serve(void *arg, struct fh_error *err)
{
	const struct live_server *w = arg;

	return view_serve(&w->view, err);
}

/* Waits until the server listens. Fails if the server could not begin. */
static int live_server_await(struct live_server *w, struct fh_error *err)
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

static int live_server_open(struct live_server *w, const char *out, int port, const char *token,
		struct fh_error *err)
{
	auto_free char *place = realpath(out, NULL);
	int r;

	if (!place)
		return error_set(err, errno, "find '%s'", out);
	w->place = arena_strdup(&w->arena, place);
	w->view = (struct view_options){
		.places = { .items = &w->place, .n = 1 },
		.port = port,
		.token = arena_strdup(&w->arena, token),
		.listening = live_server_listening,
		.user = w,
	};
	w->stop_fd = eventfd(0, EFD_CLOEXEC);
	w->ready_fd = eventfd(0, EFD_CLOEXEC);
	if (w->stop_fd < 0 || w->ready_fd < 0)
		return error_set(err, errno, "create an eventfd");
	w->view.stop_fd = w->stop_fd;
	r = takeover_new(&w->takeover, err);
	w->view.takeover = w->takeover;
	return r;
}

int live_server_start(struct live_server *w, const char *out, int port, const char *token,
		struct fh_error *err)
{
	int r = live_server_open(w, out, port, token, err);

	if (r < 0)
		return r;
	r = job_begin(live_server_serve, w, "serve the page", &w->thread, err);
	if (r < 0)
		return r;
	return live_server_await(w, err);
}

void live_server_linger(struct live_server *w, int stop_fd)
{
	struct pollfd stop = { .fd = stop_fd, .events = POLLIN };

	if (w->takeover && takeover_is_watched(w->takeover))
		poll(&stop, 1, LINGER_MS);
}

void live_server_release(struct live_server *w)
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
