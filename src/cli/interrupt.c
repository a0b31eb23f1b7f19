/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

static volatile sig_atomic_t first_signal, is_at_once;
static volatile sig_atomic_t is_soft;
static int event_fd = -1, soft_fd = -1;

static void interrupt_on_signal(int number)
{
	static const uint64_t one = 1;
	int saved = errno;

	if (number == SIGINT && is_soft && write(soft_fd, &one, sizeof(one)) > 0) {
		errno = saved;
		return;
	}
	if (first_signal || is_at_once)
		_exit(128 + number);
	first_signal = number;
	if (write(event_fd, &one, sizeof(one)) < 0)
		_exit(128 + number);
	errno = saved;
}

int interrupt_setup(struct fh_error *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = interrupt_on_signal, .sa_flags = SA_RESTART };

	event_fd = eventfd(0, EFD_CLOEXEC);
	soft_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (event_fd < 0 || soft_fd < 0)
		return error_set(err, errno, "create an eventfd");
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction before;

		/* keep ignoring a signal that is ignored, for nohup */
		sigaction(signals[i], NULL, &before);
		if (before.sa_handler != SIG_IGN && sigaction(signals[i], &action, NULL) < 0)
			return error_set(err, errno, "catch signal %d", signals[i]);
	}
	return 0;
}

void interrupt_at_once(bool at_once)
{
	is_at_once = at_once;
}

void interrupt_soft(bool soft)
{
	is_soft = soft;
}

int interrupt_soft_fd(void)
{
	return soft_fd;
}

uint64_t interrupt_take_soft(void)
{
	eventfd_t times = 0;

	return soft_fd >= 0 && eventfd_read(soft_fd, &times) == 0 ? times : 0;
}

int interrupt_fd(void)
{
	return event_fd;
}

bool interrupt_wanted(void)
{
	return first_signal != 0;
}

int interrupt_status(void)
{
	return 128 + first_signal;
}

void interrupt_leave(int status)
{
	fflush(stdout);
	_exit(status);
}
