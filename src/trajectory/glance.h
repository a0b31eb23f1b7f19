/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_GLANCE_H
#define TRAJECTORY_GLANCE_H

#include "python/pyjson.h"

/* The first and last events of a run, to compare many runs fast. Events in between are not read. */
struct glance {
	/* the event of this kind in events.jsonl; NULL: missing, or unreadable */
	const struct pyjson *open, *reset, *end;
	/* true: the episode ended by itself, so it was not killed, stopped or broken by an error */
	bool over;
};

/* Reads the first and last events of the run whose folder is `dir`. The events live in the arena.
 * Events of an events.jsonl that can't be read are NULL. */
struct glance glance_at(struct arena *a, const char *dir);

/* Gives the seed of a run. If its reset event is missing or has no seed, returns false and leaves
 * *out unchanged. */
bool glance_seed(const struct glance *g, uint64_t *out);

#endif
