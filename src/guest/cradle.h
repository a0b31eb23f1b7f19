/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_CRADLE_H
#define GUEST_CRADLE_H

#include "guest/birth.h"

/* Keeps the descriptors. cradles_make() makes the cradle, or cradle_give() if it comes first. */
void cradle_add(struct nursery *n, uint32_t number, const int *procs, size_t n_procs);
/* Time until the next one may be made, without a message; the first is made at once. -1: none is
 * wanted. */
int cradles_pause_ms(const struct nursery *n);
void cradles_make(struct nursery *n); /* makes the next one */
void cradles_drop(struct nursery *n); /* ends those that wait */
/* Hands the birth over to its cradle; false if there is none. */
bool cradle_give(struct nursery *n, const struct birth *b, const void *message, size_t size);

#endif
