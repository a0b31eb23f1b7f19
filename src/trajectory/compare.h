/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_COMPARE_H
#define TRAJECTORY_COMPARE_H

#include "base/buf.h"

#include <stdint.h>

/* Texts of two runs of the same actions. What no two runs have in common is put aside before they are compared:
 * normalise.h says what that is. A number may be a time only near its own run: another may be a result. */
struct compare_text {
	const char *text;
	int64_t at_s; /* when it was shown, in seconds since 1970; 0: nobody knows, and no number is a time */
};

/* From good to bad. UNKNOWN is nothing that texts give: who compares them knows that they are in other words. */
enum compare_verdict {
	COMPARE_EQUAL,
	COMPARE_NORMALISED,
	COMPARE_UNKNOWN,
	COMPARE_DIFFERENT,
	COMPARE_VERDICTS /* how many there are */
};

extern const char *const compare_verdicts[]; /* "equal", "normalised", "unknown", "different" */

enum compare_verdict compare_texts(struct compare_text recorded, struct compare_text now);

/* "2026-11-21T09:30:00.000Z", as events have it; 0 for anything else, NULL too. */
int64_t compare_time(const char *text);

/* Appends lines that differ, normalised, "-" before what was recorded and "+" before what is now, with the
 * line before and after them; not more than `most` lines. */
void compare_diff(struct buf *out, struct compare_text recorded, struct compare_text now,
		size_t most);

#endif
