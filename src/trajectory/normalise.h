/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_NORMALISE_H
#define TRAJECTORY_NORMALISE_H

#include "base/buf.h"

#include <stdint.h>

/*
 * Appends the text with words in angle brackets in place of what differs in each run: dates,
 * times, durations, process ids, addresses, sizes of folders, and line numbers in a shell's
 * errors. With `at_s`, these are also replaced: numbers that are a time within a week of it, in
 * seconds since 1970 or in thousandths, millionths or billionths of them. Takes linear time for
 * any text.
 */
void normalise(struct buf *out, const char *text, int64_t at_s);

#endif
