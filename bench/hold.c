/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens N episodes for bench/many-owners, and prints how many file descriptors it then has open.
 * For each line that it reads, it steps all episodes, one after the other. It prints the mean time
 * of a step in microseconds. It ends at the end of its input.
 */
#include <fumehood/env.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = -3; /* does not count ".", ".." and the descriptor of `dir` */

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int hold(struct fh_gym *gym, struct fh_env **envs, int n, struct fh_error *err)
{
	struct fh_env_options options =
			FH_ENV_OPTIONS(.task = "titanicSurvival:micro", .max_steps = 1000000);
	struct fh_step step;
	int r = 0;

	for (int i = 0; i < n && r == 0; i++) {
		r = fh_env_open(gym, &options, &envs[i], err);
		if (r == 0)
			r = fh_env_reset(envs[i], NULL, &step, err);
	}
	return r;
}

static int steps(struct fh_env **envs, int n, struct fh_error *err)
{
	struct fh_action action = FH_ACTION(.text = "true");
	double began = now_us();
	struct fh_step step;
	int r = 0;

	for (int i = 0; i < n && r == 0; i++)
		r = fh_env_step(envs[i], &action, &step, err);
	if (r == 0)
		printf("%.1f\n", (now_us() - began) / n);
	return r;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? (int)strtol(argv[1], NULL, 10) : 0;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_env **envs;
	struct fh_gym *gym = NULL;
	char line[16];
	int r;

	if (n < 1) {
		fprintf(stderr, "usage: hold N\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	envs = calloc((size_t)n, sizeof(struct fh_env *));
	r = envs ? fh_gym_open(NULL, &gym, &err) : -1;
	if (r == 0)
		r = hold(gym, envs, n, &err);
	if (r == 0)
		printf("%d\n", descriptors());
	while (r == 0 && fgets(line, sizeof(line), stdin))
		r = steps(envs, n, &err);
	if (r < 0)
		fprintf(stderr, "hold: %s\n", err.message);
	for (int i = 0; envs && i < n; i++)
		fh_env_close(envs[i]);
	fh_gym_close(gym);
	free(envs);
	return r < 0;
}
