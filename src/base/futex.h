/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <stdint.h>

/* Waiting until a number in shared memory changes: futex(2). */

/* Sleeps while *word equals `value`, for at most timeout_ns (INT64_MAX: no limit). May return
 * early. */
void futex_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns);

/* Wakes one waiting process. An agent may start many waiters, and waking all of them would take
 * long. */
void futex_wake(const uint32_t *word);

#endif
