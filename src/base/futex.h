/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <stdint.h>

/* Words in memory that processes share: futex(2). */

/* Sleeps while *word is `value`, for at most timeout_ns; INT64_MAX: for ever. May return for no reason. */
void futex_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns);

/* Wakes one: to wake all would take as long as somebody has others wait. */
void futex_wake(const uint32_t *word);

#endif
