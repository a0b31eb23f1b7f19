/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMULATORS_SHAPE_H
#define SIMULATORS_SHAPE_H

#include <stdint.h>

/* Sizes and limits of an environment, for callers of the library and for its kinds. */
struct fh_sim_shape {
	int32_t observation[3]; /* dimensions of one observation; 0: the dimension is not used */
	/* bytes of each number in an observation: 4 (a float32), or 1 (a byte that is 0 or 1) */
	int32_t observation_size;
	int32_t n_actions; /* actions are 0 to n_actions - 1; 0: an action is one float32 */
	int32_t max_steps; /* an episode is truncated after so many steps; 0: never */
	double sticky;     /* probability that a copy repeats its last action instead */
};

#endif
