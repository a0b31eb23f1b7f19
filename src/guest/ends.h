/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_ENDS_H
#define GUEST_ENDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ends *ends_new(void);
/* Maps the memory in which the owner notes each sandbox that it closes: a struct roll. `roll` is
 * its memfd. */
int ends_open(struct ends *e, int roll, struct fh_error *err);
/* Unmaps the roll; call it in a sandbox. */
void ends_forget(struct ends *e);
/* Watches the sandbox with this number, whose plan has come. Runs in the nursery. */
void ends_watch(struct ends *e, uint32_t number);
/* Notes the pid of a sandbox' new PID 1 in the roll. Runs in the nursery or a cradle. */
void ends_born(const struct ends *e, uint32_t number, pid_t pid);
/*
 * Looks for overdue sandboxes, and starts a worker for them if none runs. Returns the number of
 * children that it started.
 */
int ends_turn(struct ends *e);
void ends_reaped(struct ends *e, pid_t pid);
/* Kills each PID 1 after the owner has ended. A PID 1 that does not end soon is overdue. */
void ends_close_all(struct ends *e);
bool ends_left(const struct ends *e);
/* Returns the time until the next ends_turn(). */
int ends_pause_ms(const struct ends *e, int quiet_ms);
/* Returns a pidfd of a PID 1 that was closed and has not ended; -1: there is none. */
int ends_open_next(const struct ends *e);

#endif
