/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Statistics of few runs over many tasks, as the Python package rliable defines them (Agarwal and
 * others, 2021). Random numbers have a fixed seed, so that a report of the same runs is the same.
 */

/* Scores of runs. A task is a stratum: values begin[t] to begin[t + 1] are of task t. */
struct strata {
	double *values;
	size_t *begin; /* n_tasks + 1 offsets */
	size_t n_tasks;
};

struct interval {
	double low, high; /* 2.5 % and 97.5 % */
};

#define STATS_RUNS_MIN 8 /* fewest runs for an interval */

/* Mean of the values without the lowest and the highest quarter. NAN: n is 0. Sorts them. */
double stats_iqm(double *values, size_t n);

/* The value below which the share q of sorted values lies, as numpy interpolates. */
double stats_quantile(const double *sorted, size_t n, double q);

/*
 * The highest of values >= 0 that is no outlier. An outlier is over five times the next lower one,
 * unless that is 0. At least two thirds of the values are no outliers. 0: n is 0. Sorts them.
 */
double stats_reach(double *values, size_t n);

void stats_sort(double *values, size_t n);

/* Percentile interval of the IQM, by resampling the runs of each task. Keeps the values. */
struct interval stats_iqm_interval(const struct strata *s);

/* Probability that a run of x has a higher score than a run of y. Equal scores count half. */
double stats_improvement(const double *x, size_t n_x, const double *y, size_t n_y);

/* Mean over tasks of this probability, and its interval. x and y have the same tasks. */
double stats_mean_improvement(const struct strata *x, const struct strata *y);
struct interval stats_improvement_interval(const struct strata *x, const struct strata *y);

/*
 * Two-sided p-value of a paired permutation test. It is the share of random signs with which the
 * mean of the differences is as far from 0. Exact for up to 16 differences.
 */
double stats_permutation(const double *differences, size_t n);

#endif
