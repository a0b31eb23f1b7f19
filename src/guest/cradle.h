/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_CRADLE_H
#define GUEST_CRADLE_H

#include "guest/birth.h"

/*
 * Stores that a cradle is to be made for the control groups whose cgroup.procs are `procs`. Takes
 * ownership of these descriptors. cradles_make() makes it later. If the sandbox' plan comes first,
 * cradle_give() makes it.
 */
void cradle_add(struct nursery *n, uint32_t number, const int *procs, size_t n_procs);
/*
 * Returns for how many milliseconds the nursery should get no message before it calls
 * cradles_make(). -1: there is no cradle to make. 0: no finished cradle waits for a plan, so make
 * one now.
 */
int cradles_pause_ms(const struct nursery *n);
/* Clones one cradle: of those that are to be made, the one with the lowest number. */
void cradles_make(struct nursery *n);
/* Ends all cradles that wait for a plan. Drops those that are not made yet. */
void cradles_drop(struct nursery *n);
/*
 * Sends the plan of a sandbox to its cradle, which clones PID 1. False if no cradle got the plan.
 * The nursery then clones PID 1.
 */
bool cradle_give(struct nursery *n, const struct birth *b, const void *message, size_t size);

#endif
