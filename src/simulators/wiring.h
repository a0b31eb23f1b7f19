/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMULATORS_WIRING_H
#define SIMULATORS_WIRING_H

#include <stddef.h>
#include <stdint.h>

struct sim_kind;

/*
 * Sensors through which a policy sees an environment, and switches through which it acts. Both are
 * drawn at random, with a number as seed. Weights that fit one number fit no other. No linear map
 * undoes the sensors.
 *
 * Sensors come in pairs. A pair sees the plain observation in a plane whose axes are drawn. The
 * point that it sees there is turned around the centre, the more the farther it lies.
 */
struct sim_wiring;

/* Draws the wiring of a number. NULL: no memory. */
struct sim_wiring *wiring_new(const struct sim_kind *kind, uint64_t number);

void wiring_free(struct sim_wiring *wiring); /* `wiring` may be NULL */

/* Computes what the sensors show for n plain observations. */
void wiring_sense(const struct sim_wiring *wiring, const void *plain, size_t n, float *sensors);

/* Turns n actions of a policy into those of the environment. They are in range. */
void wiring_act(const struct sim_wiring *wiring, const void *actions, size_t n, void *switched);

#endif
