/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/refusal.h"
#include "base/scope.h"
#include "guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * A sandbox's network: a namespace with nothing in it but the loopback device. To make one takes the
 * kernel as long as all the rest of a reset, so whatever can wait for a sandbox makes it ahead.
 */

static int loopback_up(struct fh_error *err)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	auto_close int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (sock < 0 || ioctl(sock, SIOCSIFFLAGS, &request) < 0)
		return error_set(err, errno, "bring the loopback device up");
	return 0;
}

/*
 * Connections whose sockets nobody has any more go on with what they have to send, with their memory and this
 * namespace, for minutes if an answer never comes: an agent that arranges that would leave some behind with each
 * episode. They get one more try, after a second at most. A machine that lets nobody set it, or is older than a
 * setting (Linux 6.15), is left as it is.
 */
static const struct {
	const char *path, *value;
} settings[] = {
	{ "/proc/sys/net/ipv4/tcp_orphan_retries", "1" },
	{ "/proc/sys/net/ipv4/tcp_rto_max_ms", "1000" },
};

static void set_up_tcp(void)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		auto_close int fd = open(settings[i].path, O_WRONLY | O_CLOEXEC);

		if (fd >= 0)
			(void)!write(fd, settings[i].value, strlen(settings[i].value));
	}
}

int network_make(struct fh_error *err)
{
	if (unshare(CLONE_NEWNET) < 0) {
		error_set(err, errno, "make a network namespace");
		return error_see_doctor(err);
	}
	set_up_tcp();
	return loopback_up(err);
}
