/* SPDX-License-Identifier: Apache-2.0 */
#include "base/waits.h"

#include "base/clock.h"

#include <errno.h>

bool waits_poll(struct waits *w)
{
	struct timespec t, *timeout = NULL;

	if (w->deadline_ns != INT64_MAX) {
		int64_t left = w->deadline_ns - clock_now_ns();

		if (left < 0)
			left = 0;
		t = (struct timespec){ .tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S };
		timeout = &t;
	}
	return ppoll(w->fds, w->n, timeout, NULL) >= 0 || errno != EINTR;
}
