/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMULATORS_KIND_H
#define SIMULATORS_KIND_H

#include "simulators/random.h"
#include "simulators/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of simulated environments, each one const struct. */

#define SIM_ACTIONS_MAX 6

/* Brings a number of an observation to about -1 to 1, before sensors see it. */
struct sim_input {
	float centre, gain;
};

/* Sensors of a wired environment (wiring.h). */
struct sim_sensors {
	int32_t n;                      /* an even number; 0: this kind can't be wired */
	float twist;                    /* angle by which a point at distance 1 is turned */
	const struct sim_input *inputs; /* for the numbers of an observation, again and again */
	size_t n_inputs;
};

/*
 * An environment under one set of rules: one const struct, and a line in the table of simulators.c.
 * A state is a struct of state_size bytes. `step` and `observe` go over the states of n copies, so
 * that the calls cost nothing per copy.
 */
struct sim_kind {
	const char *name, *rules;
	/* sizes of observations and actions, and defaults of max_steps and sticky */
	struct fh_sim_shape shape;
	size_t state_size;
	struct sim_sensors sensors;
	/* Begins an episode of one copy. `state` is from the copy's last step, or zero. */
	void (*reset)(void *state, struct sim_random *random);
	void (*observe)(const void *states, size_t n, void *observations);
	/* Does a step of n copies: fills `rewards` and `terminated`. The actions are in range. */
	void (*step)(void *states, size_t n, const void *actions, double sticky,
			struct sim_random *random, double *rewards, uint8_t *terminated);
};

extern const struct sim_kind sim_breakout_gymnax, sim_breakout_minatar, sim_meta_maze,
		sim_mountain_car_gymnasium, sim_mountain_car_gymnax;

#endif
