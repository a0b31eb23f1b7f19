/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_GLANCE_H
#define TRAJECTORY_GLANCE_H

#include "python/pyjson.h"

/* The first and last events of a run, read without those between them, to compare many runs. */
struct glance {
	const struct pyjson *open, *reset, *end; /* events; NULL: missing */
	bool over; /* it ended in order: not killed, stopped or broken */
};

/* Events live in the arena. All are NULL if the log can't be read. */
struct glance glance_at(struct arena *a, const char *dir);

/* False if the run had no reset. Then *out stays. */
bool glance_seed(const struct glance *g, uint64_t *out);

#endif
