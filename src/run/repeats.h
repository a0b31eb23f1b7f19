/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_REPEATS_H
#define RUN_REPEATS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a text is in the list twice; *out_at is where it is for the second time. */
bool repeats_find(const char *const *texts, size_t n, size_t *out_at);

#endif
