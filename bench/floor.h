/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/*
 * A floor is a bare program that has the kernel and bash do what Fumehood has them do. It shows how
 * fast Fumehood could be at best. `fumehood bench` measures Fumehood and the floor in turns, and
 * prints the ratio. A floor prints its samples as one line of JSON:
 * {"unit":"us","samples":[12.3,...]}.
 *
 * A floor leaves out some of Fumehood's work. The comment at the top of each floor's file lists
 * what is left out.
 */
#define SAMPLES_MAX 100000

static double samples[SAMPLES_MAX];

_Noreturn static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Exits with a message if a system call failed; else returns its result. */
static inline int must(long result, const char *what)
{
	if (result < 0)
		die(what);
	return (int)result;
}

static inline double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/*
 * Reads the number of samples from the command line. It also has the kernel kill this program when
 * its parent ends.
 */
static inline int floor_begin(int argc, char **argv)
{
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;

	if (n < 1 || n > SAMPLES_MAX) {
		fprintf(stderr, "usage: %s SAMPLES ...\n", argv[0]);
		exit(2);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return n;
}

static inline void floor_end(int n)
{
	printf("{\"unit\":\"us\",\"samples\":[");
	for (int i = 0; i < n; i++)
		printf("%s%.3f", i ? "," : "", samples[i]);
	printf("]}\n");
}

#endif
