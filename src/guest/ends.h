/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_ENDS_H
#define GUEST_ENDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ends *ends_new(void);
int ends_open(struct ends *e, int roll, struct fh_error *err); /* roll: a memfd of struct roll */
void ends_forget(struct ends *e);                              /* in a sandbox */
/* In the nursery: there is a plan with that number. */
void ends_watch(struct ends *e, uint32_t number);
/* In the nursery or a cradle: its PID 1 was born. */
void ends_born(const struct ends *e, uint32_t number, pid_t pid);
/* Looks for overdue sandboxes. Starts a worker for them if none runs: how many children began. */
int ends_turn(struct ends *e);
void ends_reaped(struct ends *e, pid_t pid);
/* The owner is gone: kills each PID 1. A PID 1 that has not ended soon is overdue. */
void ends_close_all(struct ends *e);
bool ends_left(const struct ends *e);
int ends_pause_ms(const struct ends *e, int quiet_ms); /* until the next turn */
/* A pidfd of a PID 1 that was closed and has not ended; -1: there is none. */
int ends_open_next(const struct ends *e);

#endif
