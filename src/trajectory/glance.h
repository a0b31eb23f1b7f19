/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_GLANCE_H
#define TRAJECTORY_GLANCE_H

#include "python/pyjson.h"

/* The first and last events of a run, to compare many runs fast. Events in between are not read. */
struct glance {
	const struct pyjson *open, *reset, *end; /* events of these kinds; NULL: missing */
	bool over; /* the episode ended regularly: not killed, stopped or broken */
};

/* Reads the first and last events of a run's folder. Events live in the arena. All are NULL if the
 * log can't be read. */
struct glance glance_at(struct arena *a, const char *dir);

/* Gives the seed of a run. False if the run had no reset; then *out is unchanged. */
bool glance_seed(const struct glance *g, uint64_t *out);

#endif
