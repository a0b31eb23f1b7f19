/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_NORMALISE_H
#define TRAJECTORY_NORMALISE_H

#include "base/buf.h"

#include <stdint.h>

/*
 * Appends the text, but writes a word in angle brackets for each part that differs between runs.
 * These are dates, times, durations, process ids, addresses and sizes of folders. Line numbers in
 * errors of a shell are replaced, too.
 *
 * With `at_s`, seconds since 1970 within a week of it are replaced, too. They may have three, six
 * or nine more digits. Takes linear time for any text.
 */
void normalise(struct buf *out, const char *text, int64_t at_s);

#endif
