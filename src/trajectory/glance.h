/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_GLANCE_H
#define TRAJECTORY_GLANCE_H

#include "python/pyjson.h"

/* What both ends of a run's event log show, without what lies between them: enough to tell many runs apart. */
struct glance {
	const struct pyjson *open, *reset, *end; /* events; NULL where there is none */
	bool over; /* it came to an end: neither killed, stopped nor broken */
};

/* Events live in the arena. What is no log, or none that can be read, gives nothing. */
struct glance glance_at(struct arena *a, const char *dir);

/* False (and *out untouched) where it had not begun. */
bool glance_seed(const struct glance *g, uint64_t *out);

#endif
