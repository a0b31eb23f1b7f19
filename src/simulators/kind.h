/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMULATORS_KIND_H
#define SIMULATORS_KIND_H

#include "simulators/random.h"
#include "simulators/simulators.h"

#include <stdbool.h>

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
