/* SPDX-License-Identifier: Apache-2.0 */
#include "simulators/random.h"

/* Random numbers come from SplitMix64, of Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", 2014. */
static uint64_t random_next(struct sim_random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

double sim_uniform(struct sim_random *random)
{
	if (random->n_fed) {
		random->n_fed--;
		return *random->fed++;
	}
	return (double)(random_next(random) >> 11) * 0x1p-53;
}
