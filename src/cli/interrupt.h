/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "base/error.h"

#include <stdbool.h>

/*
 * Ctrl-C, Ctrl-\, and what a batch system sends (SIGTERM, SIGHUP): the first asks, and the command
 * ends in order; the second ends the process at once, with which the kernel ends every sandbox of it.
 */
int interrupt_setup(struct fh_error *err);

/* Becomes readable, and stays so, with the first. */
int interrupt_fd(void);
bool interrupt_wanted(void);

/* While it is soft, SIGINT ends nothing: it makes a descriptor readable, until it is taken. */
void interrupt_soft(bool soft);
int interrupt_soft_fd(void);
bool interrupt_take_soft(void);

/* Whether the first ends the process, too: while nothing is there that has to end in order. */
void interrupt_at_once(bool at_once);

/* 128 + the signal's number: the exit status to give. */
int interrupt_status(void);

/* Exits with that status at once: nothing is released which a thread may still use. */
_Noreturn void interrupt_leave(int status);

#endif
