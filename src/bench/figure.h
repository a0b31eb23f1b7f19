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
#define BENCH_FIGURES_MAX 64
#define BENCH_ALIVE_MAX 10

#define RESET_MOST 0.8 /* goal of several suites: p50 below this many times its floor */

struct samples {
	double *values;
	size_t n;
};

struct figure {
	char name[32];
	const char *unit;           /* "us" (microseconds), "bytes", "" for a number of things */
	struct samples ours, floor; /* samples of Fumehood and of the floor, which may have none */
	double most;                /* goal: p50 below this value; 0: none */
	double most_ratio;          /* goal: p50 below this many times that of `against`; 0: none */
	double most_over;           /* goal: p50 less than this above that of the floor; 0: none */
	const struct figure *against; /* figure to compare with; NULL: the floor */
	bool counts_own; /* counts what belongs to this process, so that others can't change it */
	char doubt[64];  /* why the samples tell nothing, and no number is shown; "": they do */
};

struct bench {
	int n;                      /* number of samples of each figure */
	int alive[BENCH_ALIVE_MAX]; /* numbers of episodes to keep alive, rising */
	size_t n_alive;
	struct figure figures[BENCH_FIGURES_MAX];
	size_t n_figures;
};

/* Adds a figure. The name is made from `format`. The returned pointer stays valid. */
struct figure *bench_figure(struct bench *b, const char *unit, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

void samples_add(struct samples *s, double value);

/* Number of rounds in which a suite takes its samples. bench_batch() is the number of samples in a
 * round. bench_go_on() gives -EINTR when the user wants to stop. */
#define BENCH_ROUNDS 5
int bench_batch(const struct bench *b);
int bench_go_on(struct fh_error *err);

#endif
