/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_CRADLE_H
#define GUEST_CRADLE_H

#include "guest/birth.h"

/* Keeps the descriptors. cradles_make() makes the cradle, or cradle_give() if it comes first. */
void cradle_add(struct nursery *n, uint32_t number, const int *procs, size_t n_procs);
bool cradles_wanted(const struct nursery *n); /* some are not made yet */
bool cradles_hurry(const struct nursery *n);  /* some are wanted, and none is made */
void cradles_make(struct nursery *n);         /* makes the next one */
void cradles_drop(struct nursery *n);         /* ends those that wait */
/* Hands the birth over to its cradle; false if there is none. */
bool cradle_give(struct nursery *n, const struct birth *b, const void *message, size_t size);

#endif
