/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stats.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 2000
#define EXACT_MAX 16 /* most differences whose signs are all tried */
#define FLIPS 100000 /* random signs, if there are more */
#define RANDOM_SEED 20260101

static size_t stats_below(uint64_t *random, size_t n)
{
	return (size_t)(((random_splitmix(random) >> 32) * (uint64_t)n) >> 32);
}

static int stats_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stats_sort(double *values, size_t n)
{
	if (n)
		qsort(values, n, sizeof(*values), stats_compare);
}

double stats_iqm(double *values, size_t n)
{
	size_t cut = n / 4;
	double sum = 0;

	if (!n)
		return NAN;
	stats_sort(values, n);
	for (size_t i = cut; i < n - cut; i++)
		sum += values[i];
	return sum / (double)(n - 2 * cut);
}

double stats_quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t below = (size_t)at;

	if (!n)
		return NAN;
	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double stats_reach(double *values, size_t n)
{
	stats_sort(values, n);
	for (size_t i = 1; i < n; i++)
		if (3 * i >= 2 * n && values[i] > 5 * values[i - 1] && values[i - 1] > 0)
			return values[i - 1];
	return n ? values[n - 1] : 0;
}

static struct interval stats_percentiles(double *repeats)
{
	stats_sort(repeats, REPEATS);
	return (struct interval){ stats_quantile(repeats, REPEATS, 0.025),
		stats_quantile(repeats, REPEATS, 0.975) };
}

/* --- interquartile mean ----------------------------------------------------------------------- */

struct stats_place {
	double value;
	size_t index;
};

/* IQM of a sample that holds the i-th of sorted values counts[i] times, n in all. */
static double stats_iqm_counted(const struct stats_place *sorted, const unsigned *counts, size_t n)
{
	size_t cut = n / 4, seen = 0;
	double sum = 0;

	for (size_t i = 0; seen < n - cut; i++) {
		size_t from = seen > cut ? seen : cut, to = seen + counts[i];

		to = to < n - cut ? to : n - cut;
		if (to > from)
			sum += (double)(to - from) * sorted[i].value;
		seen += counts[i];
	}
	return sum / (double)(n - 2 * cut);
}

static int stats_compare_places(const void *a, const void *b)
{
	const struct stats_place *x = a, *y = b;

	return stats_compare(&x->value, &y->value);
}

struct interval stats_iqm_interval(const struct strata *s)
{
	size_t n = s->begin[s->n_tasks];
	uint64_t random = RANDOM_SEED;
	auto_free struct stats_place *sorted = xcalloc(n + 1, sizeof(*sorted));
	auto_free size_t *place = xcalloc(n + 1, sizeof(*place));
	auto_free unsigned *counts = xcalloc(n + 1, sizeof(*counts));
	auto_free double *repeats = xcalloc(REPEATS, sizeof(*repeats));

	if (n < STATS_RUNS_MIN)
		return (struct interval){ NAN, NAN };
	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct stats_place){ s->values[i], i };
	qsort(sorted, n, sizeof(*sorted), stats_compare_places);
	for (size_t i = 0; i < n; i++)
		place[sorted[i].index] = i;
	for (size_t k = 0; k < REPEATS; k++) {
		memset(counts, 0, n * sizeof(*counts));
		for (size_t t = 0; t < s->n_tasks; t++) {
			size_t first = s->begin[t], runs = s->begin[t + 1] - first;

			for (size_t i = 0; i < runs; i++)
				counts[place[first + stats_below(&random, runs)]]++;
		}
		repeats[k] = stats_iqm_counted(sorted, counts, n);
	}
	return stats_percentiles(repeats);
}

/* --- comparing two ---------------------------------------------------------------------------- */

double stats_improvement(const double *x, size_t n_x, const double *y, size_t n_y)
{
	double wins = 0;

	for (size_t i = 0; i < n_x; i++)
		for (size_t k = 0; k < n_y; k++)
			wins += x[i] > y[k] ? 1 : x[i] == y[k] ? 0.5 : 0;
	return wins / (double)(n_x * n_y);
}

double stats_mean_improvement(const struct strata *x, const struct strata *y)
{
	double sum = 0;

	for (size_t t = 0; t < x->n_tasks; t++)
		sum += stats_improvement(x->values + x->begin[t], x->begin[t + 1] - x->begin[t],
				y->values + y->begin[t], y->begin[t + 1] - y->begin[t]);
	return sum / (double)x->n_tasks;
}

static void stats_resample(const struct strata *from, double *to, uint64_t *random)
{
	for (size_t t = 0; t < from->n_tasks; t++) {
		size_t first = from->begin[t], n = from->begin[t + 1] - first;

		for (size_t i = 0; i < n; i++)
			to[first + i] = from->values[first + stats_below(random, n)];
	}
}

struct interval stats_improvement_interval(const struct strata *x, const struct strata *y)
{
	size_t n_x = x->begin[x->n_tasks], n_y = y->begin[y->n_tasks];
	uint64_t random = RANDOM_SEED;
	auto_free double *values_x = xcalloc(n_x + 1, sizeof(double));
	auto_free double *values_y = xcalloc(n_y + 1, sizeof(double));
	auto_free double *repeats = xcalloc(REPEATS, sizeof(double));
	struct strata own_x = *x, own_y = *y;

	if (n_x < STATS_RUNS_MIN || n_y < STATS_RUNS_MIN)
		return (struct interval){ NAN, NAN };
	own_x.values = values_x;
	own_y.values = values_y;
	for (size_t k = 0; k < REPEATS; k++) {
		stats_resample(x, values_x, &random);
		stats_resample(y, values_y, &random);
		repeats[k] = stats_mean_improvement(&own_x, &own_y);
	}
	return stats_percentiles(repeats);
}

double stats_permutation(const double *differences, size_t n)
{
	uint64_t random = RANDOM_SEED;
	uint64_t tries = n <= EXACT_MAX ? UINT64_C(1) << n : FLIPS, extreme = 0;
	double seen = 0;

	if (!n)
		return NAN;
	for (size_t i = 0; i < n; i++)
		seen += differences[i];
	for (uint64_t k = 0; k < tries; k++) {
		uint64_t signs = k;
		double sum = 0;

		for (size_t i = 0; i < n; i++) {
			if (n > EXACT_MAX && i % 64 == 0)
				signs = random_splitmix(&random);
			sum += (signs >> (i % 64)) & 1 ? -differences[i] : differences[i];
		}
		/* Sums of the same numbers in another order differ in the last digit. */
		extreme += fabs(sum) >= fabs(seen) - 1e-12 * (1 + fabs(seen));
	}
	/* If only random signs were tried, count the data's own signs as another try. */
	return n <= EXACT_MAX ? (double)extreme / (double)tries
			      : ((double)extreme + 1) / ((double)tries + 1);
}
