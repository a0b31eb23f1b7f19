/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Catches SIGINT, SIGQUIT, SIGTERM and SIGHUP. After the first signal the command ends in order.
 * The second ends the process at once, and the kernel ends its sandboxes.
 */
int interrupt_setup(struct fh_error *err);

/* A descriptor that is readable from the first signal on. */
int interrupt_fd(void);
bool interrupt_wanted(void);

/* In soft mode SIGINT does not end the command. It makes the descriptor of interrupt_soft_fd()
 * readable, until interrupt_take_soft() returns how many signals came. */
void interrupt_soft(bool soft);
int interrupt_soft_fd(void);
uint64_t interrupt_take_soft(void);

/* After interrupt_at_once(true), the first signal ends the process at once. For commands that have
 * nothing to clean up. */
void interrupt_at_once(bool at_once);

/* Exit status of this process after a signal: 128 + the number of the first signal. */
int interrupt_status(void);

/* Flushes stdout and exits at once. Releases no memory, because threads may still use it. */
_Noreturn void interrupt_leave(int status);

#endif
