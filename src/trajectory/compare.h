/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_COMPARE_H
#define TRAJECTORY_COMPARE_H

#include "base/buf.h"

#include <stdint.h>

/* Compares texts of two runs of the same actions, after replacing what differs in each run: see
 * normalise.h. A number is taken for a time only if it is near the time of its own run. */
struct compare_text {
	const char *text;
	int64_t at_s; /* seconds since 1970; 0: unknown, and no number is a time */
};

/* Best first. compare_texts() never gives UNKNOWN: it is for texts in other words, see
 * original.h. */
enum compare_verdict {
	COMPARE_EQUAL,
	COMPARE_NORMALISED,
	COMPARE_UNKNOWN,
	COMPARE_DIFFERENT,
	COMPARE_VERDICTS /* number of verdicts */
};

extern const char *const compare_verdicts[]; /* "equal", "normalised", "unknown", "different" */

enum compare_verdict compare_texts(struct compare_text recorded, struct compare_text now);

/* Seconds since 1970 of an event's time, "2026-11-21T09:30:00.000Z"; 0 for other texts and NULL. */
int64_t compare_time(const char *text);

/* Appends at most `most` lines that differ, normalised: "- " before recorded ones, "+ " before new
 * ones. */
void compare_diff(struct buf *out, struct compare_text recorded, struct compare_text now,
		size_t most);

#endif
