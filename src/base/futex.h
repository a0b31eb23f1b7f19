/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <stdint.h>

/* Wait for words in shared memory: futex(2). */

/* Sleeps while *word is `value`, at most timeout_ns (INT64_MAX: no limit). May return early. */
void futex_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns);

/* Wakes one process. Waking all would take longer the more of them an agent starts. */
void futex_wake(const uint32_t *word);

#endif
