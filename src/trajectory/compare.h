/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_COMPARE_H
#define TRAJECTORY_COMPARE_H

#include "base/buf.h"

#include <stdint.h>

/* Compares texts of two runs of equal actions. normalise() first replaces parts that differ in
 * every run. A number counts as a time only if it is near the time of its run. */
struct compare_text {
	const char *text;
	/* Time at which the run started, in seconds since 1970. 0: not known; then no number counts
	 * as a time. */
	int64_t at_s;
};

/* Result of a comparison, best first. compare_texts() never returns COMPARE_UNKNOWN.
 * COMPARE_UNKNOWN means that MLGym's text and Fumehood's can't be compared: see original.h. */
enum compare_verdict {
	COMPARE_EQUAL,
	COMPARE_NORMALISED,
	COMPARE_UNKNOWN,
	COMPARE_DIFFERENT,
	COMPARE_VERDICTS /* number of verdicts */
};

/* names of the results of a comparison: "equal", "normalised", "unknown", "different" */
extern const char *const compare_verdicts[];

enum compare_verdict compare_texts(struct compare_text recorded, struct compare_text now);

/* Converts an event's time, "2026-11-21T09:30:00.000Z", to seconds since 1970; 0 for other texts
 * and NULL. */
int64_t compare_time(const char *text);

/* Appends at most `most` normalised lines that differ. Lines of `recorded` begin with "- ", lines
 * of `now` with "+ ". */
void compare_diff(struct buf *out, struct compare_text recorded, struct compare_text now,
		size_t most);

#endif
