/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_ORIGINAL_H
#define TRAJECTORY_ORIGINAL_H

#include "base/buf.h"
#include "trajectory/traj.h"

/*
 * Compares a step that MLGym recorded with a replay of the step in Fumehood. MLGym uses other words
 * than Fumehood to report a score, and has the last score only in `info`. original_translate()
 * extracts what both report: path, scores of the baseline, score.
 */

enum original_words {
	ORIGINAL_SAME, /* compare the two observations themselves */
	/* compare out_recorded and out_now: parts of the observations, put into the same words */
	ORIGINAL_TRANSLATED,
	/* the observations can't be compared: they report equal outcomes in different words */
	ORIGINAL_UNKNOWN,
};

/* Compares an observation that MLGym recorded with Fumehood's observation `now` of the same step.
 * Appends to out_recorded and out_now only if it returns ORIGINAL_TRANSLATED. */
enum original_words original_translate(const struct traj *recorded, size_t step, const char *now,
		struct buf *out_recorded, struct buf *out_now);

#endif
