/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMULATORS_RANDOM_H
#define SIMULATORS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Source of random numbers for one copy of a simulated environment. */
struct sim_random {
	uint64_t state;
	/* numbers that a test gave by fh_sim_feed() and that were not drawn yet */
	const double *fed;
	size_t n_fed;
};

/* Draws a random number in [0, 1). */
double sim_uniform(struct sim_random *random);

/* Draws a random whole number, 0 to limit - 1. */
static inline int sim_below(struct sim_random *random, int limit)
{
	return (int)(sim_uniform(random) * limit);
}

#endif
