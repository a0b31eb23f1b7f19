/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/guest.h"

#include <linux/sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int guest_fail(int socket, uint8_t kind, const struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	wire_put_u8(&b, kind);
	wire_put_u32(&b, (uint32_t)-err->code);
	wire_put_bytes(&b, err->message, strnlen(err->message, GUEST_TEXT_MAX - 1));
	return wire_send(socket, &b, NULL, 0);
}

_Noreturn void guest_die(int socket, uint8_t kind, const struct fh_error *err)
{
	guest_fail(socket, kind, err);
	_exit(1);
}

void guest_expect(bool fine)
{
	if (!fine)
		_exit(1);
}

pid_t guest_clone(uint64_t flags)
{
	struct clone_args args = { .flags = flags };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

void guest_keep_fds(const int *keep, size_t n)
{
	unsigned from = 3; /* keep descriptors 0, 1 and 2, which are /dev/null */

	for (;;) {
		unsigned next = ~0U;

		for (size_t i = 0; i < n; i++)
			if (keep[i] >= (int)from && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next == ~0U)
			break;
		if (next > from)
			close_range(from, next - 1, 0);
		from = next + 1;
	}
	close_range(from, ~0U, 0);
}
