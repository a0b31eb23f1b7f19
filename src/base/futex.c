/* SPDX-License-Identifier: Apache-2.0 */
#include "base/futex.h"

#include "base/clock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void futex_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns)
{
	struct timespec t = { .tv_sec = timeout_ns / NS_PER_S, .tv_nsec = timeout_ns % NS_PER_S };

	syscall(SYS_futex, word, FUTEX_WAIT, value, timeout_ns == INT64_MAX ? NULL : &t, NULL, 0);
}

void futex_wake(const uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
