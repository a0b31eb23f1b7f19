/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/scope.h"
#include "guest/guest.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

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

int network_make(struct fh_error *err)
{
	if (unshare(CLONE_NEWNET) < 0)
		return error_set(err, errno, "make a network namespace");
	return loopback_up(err);
}
