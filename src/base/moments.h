/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MOMENTS_H
#define BASE_MOMENTS_H

#include <math.h>
#include <stddef.h>

/* Mean and standard deviation of numbers that come one by one. Begins zeroed. */
struct moments {
	size_t n;
	double mean;
	double squares; /* sum of the squared differences from the mean */
};

/* Adds a number by Welford's method: equal numbers have a deviation of exactly 0. */
static inline void moments_add(struct moments *m, double value)
{
	double before = value - m->mean;

	m->n++;
	m->mean += before / (double)m->n;
	m->squares += before * (value - m->mean);
}

/* Returns the standard deviation of a sample, with the divisor n - 1. NAN below two numbers. */
static inline double moments_deviation(const struct moments *m)
{
	return m->n < 2 ? NAN : sqrt(m->squares / (double)(m->n - 1));
}

#endif
