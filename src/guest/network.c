/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/landlock.h"
#include "base/refusal.h"
#include "base/scope.h"
#include "guest/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Makes a sandbox's network: a namespace with only the loopback device. The kernel takes about 0.5
 * ms for that, so it is made ahead (by cradles). */

/*
 * Kernel settings that shorten the life of closed TCP connections. After its socket is closed, a
 * connection still sends its remaining data. If no answer comes, the kernel keeps its memory and
 * this namespace for minutes. An agent could leave such connections behind in each episode. So the
 * kernel sends the data only once more, after a second at most. A setting that the machine lacks
 * (before Linux 6.15) or forbids is skipped.
 */
static const struct {
	const char *path, *value;
} settings[] = {
	{ "/proc/sys/net/ipv4/tcp_orphan_retries", "1" },
	{ "/proc/sys/net/ipv4/tcp_rto_max_ms", "1000" },
};

int network_make(struct fh_error *err)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	auto_close int sock = -1;

	if (unshare(CLONE_NEWNET) < 0) {
		error_set(err, errno, "make a network namespace");
		return error_see_doctor(err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		auto_close int fd = open(settings[i].path, O_WRONLY | O_CLOEXEC);

		if (fd >= 0)
			(void)!write(fd, settings[i].value, strlen(settings[i].value));
	}
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0 || ioctl(sock, SIOCSIFFLAGS, &request) < 0)
		return error_set(err, errno, "bring the loopback device up");
	return 0;
}

int network_share(struct fh_error *err)
{
	/*
	 * Keep abstract unix sockets outside out of reach. By one, an agent could send its pipes to
	 * a process outside. If that process held the kernel's lock of a pipe, the sandbox could
	 * not end.
	 */
	int r = landlock_scope_sockets();

	return r < 0 ? error_set(err, -r, "keep the agent from sockets outside the sandbox") : 0;
}
