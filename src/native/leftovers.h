/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_LEFTOVERS_H
#define NATIVE_LEFTOVERS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Sandboxes that live on without their owner, because neither their PID 1 nor their nursery could
 * end them. There is no registry that could be wrong: /proc tells. An ordinary user sees his own,
 * root all.
 */

/* The processes that are their PIDs 1, as a heap array. Takes a moment if there are any, since
 * most that look like one are just ending. */
size_t leftovers_find(pid_t **out);

/* Ends them; how many did. *out_left: how many are still there after seconds. */
size_t leftovers_end(size_t *out_left);

#endif
