/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_CRADLE_H
#define GUEST_CRADLE_H

#include "guest/birth.h"

/*
 * Stores that a cradle is to be made, a process that waits to clone a sandbox' PID 1. `procs` are
 * the cgroup.procs of its control groups; takes ownership of these descriptors. cradles_make()
 * makes the cradle later, or cradle_give() if the sandbox' plan comes first.
 */
void cradle_add(struct nursery *n, uint32_t number, const int *procs, size_t n_procs);
/*
 * Returns how many milliseconds the nursery should wait for messages before it calls
 * cradles_make(). -1: there is no cradle to make. 0: no finished cradle is left, so make one at
 * once.
 */
int cradles_pause_ms(const struct nursery *n);
/* Clones the next cradle: of those that are stored to be made, the one with the lowest number. */
void cradles_make(struct nursery *n);
/* Ends all cradles, which are processes that wait to make a sandbox. Forgets those that are not
 * made yet. */
void cradles_drop(struct nursery *n);
/*
 * Sends the plan of a sandbox to its cradle, a waiting process, which clones PID 1. Returns false
 * if no cradle got the plan. The nursery then clones PID 1.
 */
bool cradle_give(struct nursery *n, const struct birth *b, const void *message, size_t size);

#endif
