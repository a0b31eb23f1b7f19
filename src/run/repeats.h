/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_REPEATS_H
#define RUN_REPEATS_H

#include <stdbool.h>
#include <stddef.h>

/* What is named twice would be played twice, and counted as two: whether one of the texts is there before, and where
 * it is again. */
bool repeats_find(const char *const *texts, size_t n, size_t *out_at);

#endif
