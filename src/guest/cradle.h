/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_CRADLE_H
#define GUEST_CRADLE_H

#include "guest/birth.h"

/*
 * Notes that a cradle is wanted in these groups, and keeps the descriptors. cradles_make() clones
 * the cradle, or cradle_give() if the plan comes first.
 */
void cradle_add(struct nursery *n, uint32_t number, const int *procs, size_t n_procs);
/*
 * Returns the time without a message after which cradles_make() should be called. 0 if no cradle
 * waits. -1: no cradle is wanted.
 */
int cradles_pause_ms(const struct nursery *n);
/* Clones the cradle with the lowest number of those that are wanted. */
void cradles_make(struct nursery *n);
/* Ends all cradles that wait, and forgets those that are wanted. */
void cradles_drop(struct nursery *n);
/* Sends the birth to its cradle, which clones PID 1. False if there is no such cradle. */
bool cradle_give(struct nursery *n, const struct birth *b, const void *message, size_t size);

#endif
