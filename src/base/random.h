/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/*
 * Returns the next random number of SplitMix64, of Steele, Lea and Flood, "Fast splittable
 * pseudorandom number generators", 2014. *state begins as the seed. Numbers can be predicted, so
 * don't use them for secrets.
 */
static inline uint64_t random_splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

#endif
