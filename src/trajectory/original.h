/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_ORIGINAL_H
#define TRAJECTORY_ORIGINAL_H

#include "base/buf.h"
#include "trajectory/traj.h"

/*
 * A step that MLGym recorded beside the same step of ours. Of a scoring it says in its own words what we say in ours,
 * and the score of an episode's end stands in its `info` only. What both say is put side by side here, and nothing else:
 * the path, the baseline's scores and the score.
 */
enum original_words {
	ORIGINAL_SAME,       /* nothing is known to be said in other words */
	ORIGINAL_TRANSLATED, /* what the outputs hold can be compared in place of the observations */
	ORIGINAL_UNKNOWN, /* the same happened, and both say so in words that can't be compared */
};

/* Appends to the outputs only what is ORIGINAL_TRANSLATED. */
enum original_words original_translate(const struct traj *recorded, size_t step, const char *now,
		struct buf *out_recorded, struct buf *out_now);

#endif
