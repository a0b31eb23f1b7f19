/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_LEFTOVERS_H
#define NATIVE_LEFTOVERS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Finds and ends sandboxes whose owner has ended, because neither their PID 1 nor their nursery
 * could end them. They are found in /proc, so there is no registry that could be wrong. A user sees
 * and ends only their own sandboxes, root all.
 */

/*
 * Lists the pid of each PID 1 whose owner has ended, in a heap array. If it finds any, waits
 * LOOK_AGAIN_MS and looks again, since most of them are just ending.
 */
size_t leftovers_find(pid_t **out);

/*
 * Kills all processes of the sandboxes that leftovers_find() lists. Returns how many sandboxes
 * ended. *out_left is the number of those that did not end within seconds.
 */
size_t leftovers_end(size_t *out_left);

#endif
