/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_FIGURE_H
#define BENCH_FIGURE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * `fumehood bench`: suites measure figures. A figure has samples of Fumehood, and most have samples
 * of a bare program, the floor. Both are taken in turns, so that other load on the machine slows
 * both.
 */

#define BENCH_TASK "titanicSurvival:micro"
#define BENCH_FIGURES_MAX 160
#define BENCH_ALIVE_MAX 10

/* Goal of several suites: the median of a figure is below this many times its floor's. The floor is
 * a bare program to compare with. */
#define RESET_MOST 0.8

struct samples {
	double *values;
	size_t n;
};

struct figure {
	char name[48];
	const char *unit; /* "us" (microseconds), "bytes", "" for a number of things */
	/* samples of Fumehood, and of the bare program that it is compared with, if any */
	struct samples ours, floor;
	double most; /* goal: the median is below this value; 0: no such goal */
	/* goal: the median is below this many times the median of `against`; 0: no such goal */
	double most_ratio;
	/* goal: the median minus that of the compared bare program is below this value; 0: no such
	 * goal */
	double most_over;
	/* figure to compare with; NULL: the bare program's samples, `floor` */
	const struct figure *against;
	/* The figure counts only resources of this process and its children, so load on the machine
	 * does not change it. */
	bool counts_own;
	/* why the samples can't be trusted, so that no numbers are shown; "": they can */
	char doubt[64];
};

struct bench {
	int n;                      /* number of samples of each figure */
	int alive[BENCH_ALIVE_MAX]; /* numbers of episodes to keep alive, rising */
	size_t n_alive;
	struct figure figures[BENCH_FIGURES_MAX];
	size_t n_figures;
};

/* Adds a measured quantity to the benchmark, with a name made from `format`. The returned pointer
 * stays valid. */
struct figure *bench_figure(struct bench *b, const char *unit, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

void samples_add(struct samples *s, double value);

/* Number of rounds in which a suite takes its samples. bench_batch() is the number of samples in a
 * round. bench_go_on() gives -EINTR when the user wants to stop. */
#define BENCH_ROUNDS 5
int bench_batch(const struct bench *b);
int bench_go_on(struct fh_error *err);

#endif
