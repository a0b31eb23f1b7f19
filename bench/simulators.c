/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times a simulator: bench/simulators SAMPLES NAME RULES. A sample is the CPU time in which 1,024
 * copies of the simulator make a step and their observations. It is the mean of 20 steps with
 * random actions.
 */
#include "floor.h"

#include "simulators/simulators.h"

#define COPIES 1024
#define ROUND 20     /* steps in a sample */
#define N_ACTIONS 64 /* steps after which the actions repeat */

static union {
	float forces[N_ACTIONS][COPIES];
	int32_t choices[N_ACTIONS][COPIES];
} actions;

static char observations[COPIES * 400], final_observations[COPIES * 400];
static double rewards[COPIES];
static uint8_t terminated[COPIES], truncated[COPIES];

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void draw_actions(int n_actions)
{
	for (int i = 0; i < N_ACTIONS; i++) {
		for (int j = 0; j < COPIES; j++) {
			if (n_actions)
				actions.choices[i][j] = (int32_t)(random() % n_actions);
			else
				actions.forces[i][j] = (float)random() / (float)RAND_MAX * 2 - 1;
		}
	}
}

static double one_sample(struct fh_sim *sim)
{
	const struct fh_sim_results results = { observations, rewards, terminated, truncated,
		final_observations };
	double began = cpu_us();

	for (int i = 0; i < ROUND; i++)
		must(fh_sim_step(sim, actions.choices[i % N_ACTIONS], &results), "step");
	return (cpu_us() - began) / ROUND;
}

int main(int argc, char **argv)
{
	int n = floor_begin(argc, argv);
	struct fh_sim *sim;

	if (argc != 4 || fh_sim_open(&sim, argv[2], argv[3], COPIES) < 0) {
		fprintf(stderr, "usage: %s SAMPLES NAME RULES\n", argv[0]);
		return 2;
	}
	draw_actions(fh_sim_shape(sim)->n_actions);
	one_sample(sim);
	for (int i = 0; i < n; i++)
		samples[i] = one_sample(sim);
	fh_sim_close(sim);
	floor_end(n);
	return 0;
}
