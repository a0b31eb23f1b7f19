/* SPDX-License-Identifier: Apache-2.0 */
#include "guest.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

/* --- time ------------------------------------------------------------------------------------- */

/* The linker puts these in the place of the C library's (see meson.build). Nobody else runs here: what
 * is not ready now never will be, so that who waits has waited his time out. */
int __real_clock_gettime(clockid_t id, struct timespec *out);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

static int64_t now_ns = NS_PER_S;

int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
	if (id != CLOCK_MONOTONIC)
		return __real_clock_gettime(id, out);
	*out = (struct timespec){ .tv_sec = now_ns / NS_PER_S, .tv_nsec = now_ns % NS_PER_S };
	now_ns += 1000; /* so that who spins comes to an end */
	return 0;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	int r = __real_poll(fds, n, 0);

	if (r == 0 && timeout_ms < 0)
		abort();
	if (r == 0)
		now_ns += timeout_ms * NS_PER_MS;
	return r;
}

void guest_sleep_ns(int64_t ns)
{
	now_ns += ns;
}

/* --- the guest -------------------------------------------------------------------------------- */

void guest_open(struct guest *g, bool shell)
{
	static struct owner owner;
	int pair[2];

	*g = GUEST_NONE;
	g->sb = xcalloc(1, sizeof(*g->sb));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	g->control = pair[1];
	*g->sb = (struct sandbox){
		.owner = &owner, .control = pair[0], .status = -1, .output = -1, .files = -1
	};
	if (shell && sandbox_restart_shell(g->sb, NULL) < 0)
		abort();
}

static void close_shell(struct guest *g)
{
	for (size_t i = 0; i < SHELL_FDS; i++)
		close_fd(&g->shell[i]);
}

void guest_close(struct guest *g)
{
	close_fd(&g->control);
	close_shell(g);
}

static int open_file(const void *data, size_t n)
{
	int fd = memfd_create("guest", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, data, n, 0) < 0)
		abort();
	return fd;
}

void guest_say(struct guest *g, const void *data, size_t n)
{
	auto_close int fd = -1;

	if (n & 1)
		fd = n & 2 ? open_file(data, n) : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (g->control >= 0)
		fd_send_message(g->control, data, n, &fd, fd >= 0, MSG_DONTWAIT);
}

void guest_write(int fd, const void *data, size_t n)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	/* A pipe that can be written to has room for PIPE_BUF, and an input's piece is less. */
	if (fd >= 0 && __real_poll(&p, 1, 0) > 0 && (p.revents & (POLLOUT | POLLERR)) == POLLOUT)
		(void)!write(fd, data, n);
}

static void take_shell(struct guest *g, int *fds)
{
	close_shell(g);
	for (size_t i = 0; i < SHELL_FDS; i++)
		g->shell[i] = take_fd(&fds[i]);
}

void guest_listen(struct guest *g)
{
	static const uint8_t interrupted = INIT_INTERRUPTED;
	char message[GUEST_MESSAGE_MAX];
	int fds[GUEST_FDS_MAX + 1];
	size_t n = 0;

	while (g->control >= 0 &&
			fd_recv_message(g->control, message, sizeof(message), fds, ARRAY_SIZE(fds),
					&n, MSG_DONTWAIT) > 0) {
		if (message[0] == INIT_SHELL && n == SHELL_FDS)
			take_shell(g, fds);
		for (size_t i = 0; i < n; i++)
			close_fd(&fds[i]);
		if (message[0] == INIT_INTERRUPT)
			fd_send_message(g->control, &interrupted, 1, NULL, 0, MSG_DONTWAIT);
	}
}
