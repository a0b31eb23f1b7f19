/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_NORMALISE_H
#define TRAJECTORY_NORMALISE_H

#include "base/buf.h"

#include <stdint.h>

/*
 * Appends the text with what no two runs have in common replaced by words in angle brackets: dates and times,
 * durations, process ids, addresses in memory, sizes of folders, and the line numbers that a shell gives in its
 * complaints; and, with `at_s`, numbers that count seconds since 1970 (or thousandths, millionths, billionths of
 * them) and are a time within a week of that one. It takes time in proportion to the text, whatever is in it.
 */
void normalise(struct buf *out, const char *text, int64_t at_s);

#endif
