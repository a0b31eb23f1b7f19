/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FORK_MARK_H
#define BASE_FORK_MARK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Tells a process from its forks, also from those that clone(2) made without fork(2). Reading a
 * mark takes nanoseconds.
 */

/* Returns the mark of this process, which no fork of it has. 0: there is no memory for it. */
uint64_t fork_mark(void);

/* True if fork_mark() gave the mark in this process. False in a fork. */
bool fork_is_marked(uint64_t mark);

#endif
