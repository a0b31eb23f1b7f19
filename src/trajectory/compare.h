/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_COMPARE_H
#define TRAJECTORY_COMPARE_H

#include "base/buf.h"

/*
 * Texts of two runs of the same actions. What no two runs have in common is put aside before they are
 * compared: dates and times, durations, process ids, addresses in memory, sizes of folders, and the line
 * numbers that a shell gives in its complaints.
 */
enum compare_verdict { COMPARE_EQUAL, COMPARE_NORMALISED, COMPARE_DIFFERENT };

extern const char *const compare_verdicts[]; /* "equal", "normalised", "different" */

enum compare_verdict compare_texts(const char *recorded, const char *now);

/* Appends the text with what differs each time replaced by words in angle brackets. */
void compare_normalise(struct buf *out, const char *text);

/* Appends lines that differ, normalised, "-" before what was recorded and "+" before what is now, with the
 * line before and after them; not more than `most` lines. */
void compare_diff(struct buf *out, const char *recorded, const char *now, size_t most);

#endif
