/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_EPISODE_H
#define BENCH_EPISODE_H

#include "bench/figure.h"

#include <fumehood/env.h>

double bench_us_since(int64_t began_ns);

/* A gym and an environment whose episode has just begun. */
struct bench_env {
	struct fh_gym *gym;
	struct fh_env *env;
};

#define auto_bench_env __attribute__((cleanup(bench_close)))
int bench_open(struct bench_env *out, struct fh_error *err);
void bench_close(struct bench_env *env);

/* Opens an environment of a task and begins an episode. */
int bench_start(struct fh_gym *gym, const char *task, struct fh_env **out, struct fh_error *err);

/* Times of one episode, in microseconds. */
struct life {
	double observed; /* from opening the environment to the first observation */
	double answered; /* from opening the environment to the result of the first command */
	double ended;    /* from closing the environment to the end of its last process */
};

/* Plays one short episode and measures its times. Sleeps before it, so that the end of the previous
 * episode does not slow it. bench/floor_reset.c, which it is compared with, sleeps, too. */
int bench_live(struct fh_gym *gym, const char *task, struct life *out, struct fh_error *err);

/* Adds the memory of each of n episodes to `out`: its processes, and 1/n of the kernel's growth.
 * The kernel had kernel_bytes before the episodes began. */
void bench_memory(double kernel_bytes, size_t n, struct samples *out);

/* Runs a command n times, each as a blocking step. Adds the microseconds of each to `out`, if it is
 * not NULL. */
int bench_steps(struct fh_env *env, const char *command, int n, struct samples *out,
		struct fh_error *err);

#endif
