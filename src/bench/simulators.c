/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/floors.h"
#include "bench/suites.h"

/*
 * Measures the simulators: CPU time of a step of 1,024 copies, with their observations. The program
 * bench/simulators takes the samples.
 */
#define COPIES 1024

/* Goal: 30 million steps of the car per second. */
#define CAR_US (COPIES / 30.0)

static const struct {
	const char *figure, *name, *rules;
	double most; /* goal in microseconds; 0: none */
} simulators[] = {
	{ "sim_car", "MountainCarContinuous", "gymnax", CAR_US },
	{ "sim_car_gymnasium", "MountainCarContinuous", "gymnasium", CAR_US },
	{ "sim_breakout", "Breakout", "minatar" },
	{ "sim_maze", "MetaMaze", "gymnax" },
};

#define N_SIMULATORS (sizeof(simulators) / sizeof(*simulators))

int suite_simulators(struct bench *b, struct fh_error *err)
{
	struct figure *figures[N_SIMULATORS];

	for (size_t i = 0; i < N_SIMULATORS; i++) {
		figures[i] = bench_figure(b, "us", "%s", simulators[i].figure);
		figures[i]->most = simulators[i].most;
	}
	for (int round = 0; round < BENCH_ROUNDS; round++) {
		for (size_t i = 0; i < N_SIMULATORS; i++) {
			const char *args[] = { simulators[i].name, simulators[i].rules, NULL };
			int r = bench_go_on(err);

			if (r < 0)
				return r;
			r = floor_run("simulators", bench_batch(b), args, &figures[i]->ours, err);
			if (r < 0)
				return r;
		}
	}
	return 0;
}
