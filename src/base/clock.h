/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

/* Current time of a clock in ns. For durations and deadlines use clock_now_ns(), whose clock nobody
 * can set. */
static inline int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#define NS_PER_MS 1000000LL
#define NS_PER_S 1000000000LL

/* Timeout for poll() until a deadline of clock_now_ns(): milliseconds, rounded up. 0 if the
 * deadline has passed; -1 for no deadline (INT64_MAX). */
static inline int clock_ms_left(int64_t deadline_ns)
{
	int64_t left;

	if (deadline_ns == INT64_MAX)
		return -1;
	left = deadline_ns - clock_now_ns();
	if (left <= 0)
		return 0;
	left = (left + NS_PER_MS - 1) / NS_PER_MS;
	return left > INT_MAX ? INT_MAX : (int)left;
}

#endif
