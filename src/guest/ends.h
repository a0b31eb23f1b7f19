/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_ENDS_H
#define GUEST_ENDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Ends closed sandboxes whose PID 1 does not end by itself. ends.c explains how. */

struct ends *ends_new(void);
/* Maps the memory in which the owner notes each sandbox that it closes: a struct roll. `roll` is
 * its memfd. */
int ends_open(struct ends *e, int roll, struct fh_error *err);
/* Unmaps the memory that ends_open() mapped, in which the owner notes closed sandboxes. A sandbox
 * calls it, because it must not see this memory. */
void ends_forget(struct ends *e);
/* Starts to watch a sandbox, by its number, so that it ends after it is closed. Runs in the nursery
 * when it gets the sandbox' plan. */
void ends_watch(struct ends *e, uint32_t number);
/* Writes the pid of a new sandbox' PID 1 into struct roll, memory that nursery and owner share.
 * Runs in the process that cloned PID 1. */
void ends_born(const struct ends *e, uint32_t number, pid_t pid);
/*
 * Looks for closed sandboxes that did not end in time. Starts a child process that kills them, if
 * none runs. Returns the number of child processes that it started.
 */
int ends_turn(struct ends *e);
void ends_reaped(struct ends *e, pid_t pid);
/*
 * Marks all sandboxes as closed after the owner has ended, and kills each PID 1. ends_turn()
 * handles those that do not end soon.
 */
void ends_close_all(struct ends *e);
bool ends_left(const struct ends *e);
/*
 * Returns how many milliseconds may pass before ends_turn() has to run again: `quiet_ms` if no
 * sandbox has to end.
 */
int ends_pause_ms(const struct ends *e, int quiet_ms);
/* Returns a pidfd for PID 1 of a closed sandbox that has not ended; -1: there is none. */
int ends_open_next(const struct ends *e);

#endif
