/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_DEADLINES_H
#define ENV_DEADLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A heap of deadlines, the earliest first. A deadline is a field of the object that it is for. A
 * zeroed deadline is not set.
 */
struct deadline {
	int64_t at_ns;
	size_t index; /* the deadline's index in the heap's array */
	bool is_set;  /* the deadline is in the heap */
};

struct deadlines {
	struct deadline **heap;
	size_t n, size;
};

/* Sets or moves a deadline. O(log n), as is clearing it. */
void deadlines_set(struct deadlines *all, struct deadline *d, int64_t at_ns);
/* does nothing if the deadline is not set */
void deadlines_clear(struct deadlines *all, struct deadline *d);

/* Returns the earliest deadline; INT64_MAX if none is set. */
int64_t deadlines_first(const struct deadlines *all);

#endif
