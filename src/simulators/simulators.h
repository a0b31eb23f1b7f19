/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMULATORS_SIMULATORS_H
#define SIMULATORS_SIMULATORS_H

#include "simulators/shape.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Simulators for reinforcement learning. A batch is many copies of one environment, which are
 * stepped together. Agents train with it through the Python module `simulators`; judges score
 * policies with it. docs/simulators.md describes the environments.
 *
 * The library needs libc and libm only. It keeps no state outside of a batch, so batches of several
 * threads don't interfere. A batch belongs to one thread at a time.
 *
 * Names and rules:
 * - MountainCarContinuous: gymnax (0.0.9), gymnasium (1.4.0 under NumPy 2)
 * - Breakout: gymnax (0.0.9, its Breakout-MinAtar), minatar (1.0.15)
 * - MetaMaze: gymnax (0.0.9, its MetaMaze-misc)
 */
struct fh_sim;

/* Arrays of the caller that a step of n copies fills, with a row for each copy. */
struct fh_sim_results {
	void *observations;
	double *rewards;
	uint8_t *terminated; /* 1: the environment's rules ended the episode */
	uint8_t *truncated;  /* 1: the episode has reached max_steps, and is not terminated */
	/* Last observations of the episodes that ended. Rows of copies whose episode goes on stay
	 * as they are. */
	void *final_observations;
};

/*
 * Opens a batch of n copies, 1 to 1,000,000. They begin episodes with the random numbers of the
 * seeds 0 to n - 1. NULL as rules means gymnax. -ENOENT: no such name; -ENOSYS: no such rules for
 * it; -EINVAL: n is out of range; -ENOMEM.
 */
int fh_sim_open(struct fh_sim **out, const char *name, const char *rules, size_t n);

void fh_sim_close(struct fh_sim *sim); /* `sim` may be NULL */

/* returns sizes of observations and actions; valid until fh_sim_close() */
const struct fh_sim_shape *fh_sim_shape(const struct fh_sim *sim);

/* Sets max_steps and sticky of the batch's shape. -EINVAL: out of range. */
int fh_sim_configure(struct fh_sim *sim, int32_t max_steps, double sticky);

/*
 * Wires the batch: hides it behind sensors and switches that `number` draws (wiring.h).
 * Observations are float32 then, and fh_sim_shape() tells how many. A batch is wired once at most.
 * -EINVAL: it is wired; -ENOMEM.
 */
int fh_sim_wire(struct fh_sim *sim, uint64_t number);

/* Observes all copies as they are without a wiring. */
void fh_sim_plain(struct fh_sim *sim, void *observations);

/* Seeds the random numbers of each copy of the environment. `seeds` has a number for each. */
void fh_sim_seed(struct fh_sim *sim, const uint64_t *seeds);

/* Begins a new episode in every copy. `observations` has a row for each copy. */
void fh_sim_reset(struct fh_sim *sim, void *observations);

/*
 * Does one step of every copy. `actions` has n float32 or int32. A copy whose episode ends begins
 * the next one in the same step. Then `observations` has the first observation of the next episode.
 *
 * Returns the number of episodes that ended. -EINVAL: an action is out of range, or not finite;
 * then no copy has moved.
 */
int fh_sim_step(struct fh_sim *sim, const void *actions, const struct fh_sim_results *results);

/*
 * For tests: has the first copy of an environment draw these numbers, in [0, 1), before its own
 * random numbers. fh_sim_seed() drops the rest of them. The array must stay valid until then.
 */
void fh_sim_feed(struct fh_sim *sim, const double *draws, size_t n);

#endif
