/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps through the C API, for bench/python-steps. Opens N environments of a task. A line of input
 * is a number of rounds. In each round it runs `true` in all environments at once. Then it prints
 * the seconds that all rounds took, and its own seconds of processor time. With N = 1 it makes
 * blocking steps.
 *
 * Usage: steps TASK N
 */
#include <fumehood/env.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ENVS_MAX 1024

static struct fh_error err = FH_ERROR_INIT;
static struct fh_gym *gym;
static struct fh_env *envs[ENVS_MAX];
static struct fh_step step;

static int check(int r)
{
	if (r >= 0)
		return r;
	fprintf(stderr, "steps: %s\n", err.message);
	exit(1);
}

static double now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void burst(int n)
{
	struct fh_env *done[ENVS_MAX];
	int left = n;

	for (int i = 0; i < n; i++)
		check(fh_env_step_start(envs[i], &FH_ACTION(.text = "true"), &err));
	while (left > 0) {
		int came = check(fh_gym_wait(gym, -1, done, ENVS_MAX, &err));

		for (int i = 0; i < came; i++)
			check(fh_env_end(done[i], &step, &err));
		left -= came;
	}
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
	char line[32];

	if (n < 1 || n > ENVS_MAX) {
		fprintf(stderr, "usage: steps TASK N\n");
		return 2;
	}
	check(fh_gym_open(NULL, &gym, &err));
	for (int i = 0; i < n; i++) {
		check(fh_env_open(gym,
				&FH_ENV_OPTIONS(.task = argv[1], .max_steps = 1000000000,
						.polled = true),
				&envs[i], &err));
		check(fh_env_reset(envs[i], NULL, &step, &err));
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		long rounds = strtol(line, NULL, 10);
		double began = now_s(CLOCK_MONOTONIC), cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);

		for (long k = 0; k < rounds; k++) {
			if (n == 1)
				check(fh_env_step(
						envs[0], &FH_ACTION(.text = "true"), &step, &err));
			else
				burst(n);
		}
		printf("%.9f %.9f\n", now_s(CLOCK_MONOTONIC) - began,
				now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu);
		fflush(stdout);
	}
	for (int i = 0; i < n; i++)
		fh_env_close(envs[i]);
	fh_gym_close(gym);
	return 0;
}
