/* SPDX-License-Identifier: Apache-2.0 */
#include "guest.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "native/start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

/* --- time ------------------------------------------------------------------------------------- */

/* The linker replaces the C library's clock and poll by these (see meson.build). No other process
 * runs, so nothing becomes ready during a wait. A wait ends at once, and moves the time on to its
 * timeout. */
int __real_clock_gettime(clockid_t id, struct timespec *out);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
void __wrap_futex_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns);
int __wrap_ppoll(
		struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);

static int64_t now_ns = NS_PER_S;

int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
	if (id != CLOCK_MONOTONIC)
		return __real_clock_gettime(id, out);
	*out = (struct timespec){ .tv_sec = now_ns / NS_PER_S, .tv_nsec = now_ns % NS_PER_S };
	now_ns += 1000; /* lets a busy loop reach its deadline */
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

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	(void)mask;
	return __wrap_poll(fds, n,
			timeout ? (int)(timeout->tv_sec * 1000 + timeout->tv_nsec / NS_PER_MS) + 1
				: -1);
}

void __wrap_futex_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns)
{
	if (timeout_ns == INT64_MAX)
		abort();
	now_ns += timeout_ns;
}

void guest_sleep_ns(int64_t ns)
{
	now_ns += ns;
}

/* --- the guest -------------------------------------------------------------------------------- */

void guest_open(struct guest *g, bool shell)
{
	static struct native_owner owner;
	struct native_sandbox *sb = xcalloc(1, sizeof(*sb));
	int pair[2], other[2];

	*g = GUEST_NONE;
	g->sb = &sb->base;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
			socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, other) < 0)
		abort();
	g->control = pair[1];
	g->porter = other[1];
	*sb = (struct native_sandbox){ .base.ops = &sandbox_native,
		.owner = &owner,
		.control = pair[0],
		.porter = other[0],
		.answer_by_ns = INT64_MAX,
		.pump_by_ns = INT64_MAX,
		.files = -1 };
	if (shell && start_shell_again(sb, NULL) < 0)
		abort();
}

void guest_close(struct guest *g)
{
	close_fd(&g->control);
	close_fd(&g->porter);
	close_fd(&g->mail);
}

static int open_file(const void *data, size_t n)
{
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || pwrite(fd, data, n, 0) < 0)
		abort();
	if (n & 4 && fcntl(fd, F_ADD_SEALS, GUEST_SEALS) < 0)
		abort();
	return fd;
}

void guest_say(int socket, const void *data, size_t n)
{
	auto_buf struct buf message = BUF_INIT(n + 1);
	auto_close int fd = -1;

	buf_add(&message, data, n);
	if (n & 1)
		fd = n & 2 ? open_file(data, n) : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (socket >= 0)
		fd_send_message(socket, message.data, n, &fd, fd >= 0, MSG_DONTWAIT);
}

void guest_print(struct guest *g, uint32_t stream, const void *data, size_t n)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	wire_put_u8(&b, PORTER_OUTPUT);
	wire_put_u32(&b, stream);
	buf_add(&b, data, n);
	if (g->porter >= 0)
		fd_send_message(g->porter, b.data, b.len, NULL, 0, MSG_DONTWAIT);
}

static void take_mail(struct guest *g, int *fd)
{
	close_fd(&g->mail);
	g->mail = take_fd(fd);
}

static void answer_control(struct guest *g)
{
	uint8_t interrupted = INIT_INTERRUPTED;
	char message[GUEST_MESSAGE_MAX];
	int fds[GUEST_FDS_MAX + 1];
	size_t n = 0;

	while (g->control >= 0 &&
			fd_recv_message(g->control, message, sizeof(message), fds, ARRAY_SIZE(fds),
					&n, MSG_DONTWAIT) > 0) {
		if (message[0] == INIT_SHELL && n == 1)
			take_mail(g, &fds[0]);
		for (size_t i = 0; i < n; i++)
			close_fd(&fds[i]);
		if (message[0] == INIT_INTERRUPT)
			fd_send_message(g->control, &interrupted, 1, NULL, 0, MSG_DONTWAIT);
	}
}

/* Answers each request to the porter as if it was done. Requests to pump the shell's output are
 * answered too. */
static void answer_porter(struct guest *g)
{
	static const uint8_t digest[SHA256_BYTES];
	uint8_t pumps = PORTER_PUMPS;
	char message[GUEST_MESSAGE_MAX];
	int fd = -1;
	size_t n = 0;
	ssize_t size;

	while (g->porter >= 0 &&
			(size = fd_recv_message(g->porter, message, sizeof(message), &fd, 1, &n,
					 MSG_DONTWAIT)) > 0) {
		struct wire w = wire_open(message, (size_t)size);
		uint8_t kind = wire_get_u8(&w);
		auto_buf struct buf b = BUF_INIT(64);

		if (n)
			close_fd(&fd);
		if (kind == PORTER_PUMP)
			fd_send_message(g->porter, &pumps, 1, NULL, 0, MSG_DONTWAIT);
		if (kind == PORTER_PUMP || kind == PORTER_CLEAR)
			continue;
		wire_put_u8(&b, PORTER_DONE);
		wire_put_u32(&b, wire_get_u32(&w));
		wire_put_u32(&b, 0);
		wire_put_bytes(&b, "", 0);
		wire_put_bytes(&b, digest, sizeof(digest));
		fd_send_message(g->porter, b.data, b.len, NULL, 0, MSG_DONTWAIT);
	}
}

void guest_listen(struct guest *g)
{
	answer_control(g);
	answer_porter(g);
}
