/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CONTROL_H
#define NATIVE_CONTROL_H

#include "native/native.h"

/* Marks the sandbox as gone, and returns the event that reports it. */
void control_set_gone(struct native_sandbox *sb, struct sandbox_event *out);
/* Returns PID 1's next event without waiting, or SANDBOX_NONE. */
void control_receive(struct native_sandbox *sb, struct sandbox_event *out);

int control_run(struct sandbox *base, const struct program_request *request, uint32_t *out_id,
		struct fh_error *err);
int control_pack(struct sandbox *base, const char *folder, const char *except, int to,
		struct fh_error *err);
int control_go(struct sandbox *base, uint32_t id, struct fh_error *err);
int control_signal(struct sandbox *base, uint32_t id, int signal_number, struct fh_error *err);

enum interrupt_level { INTERRUPT_ASK, INTERRUPT_KILL, INTERRUPT_SHELL, INTERRUPT_ALL };

/*
 * Interrupts the shell's command. There are four levels:
 *
 *   INTERRUPT_ASK    the shell gets SIGCONT and the signal number INTERRUPT_SIGNAL. Processes that
 *                    began after the command get SIGCONT and SIGINT.
 *   INTERRUPT_KILL   the same, but these processes get SIGKILL
 *   INTERRUPT_SHELL  the shell gets SIGKILL too
 *   INTERRUPT_ALL    every process of the sandbox but PID 1 and the porter gets SIGKILL: any of
 *                    them may hold a kernel lock for which the shell waits
 *
 * sb->interruptions counts interruptions whose signals PID 1 has not sent yet. A new command waits
 * until it is 0, because the signals would hit that command.
 */
void control_interrupt(struct native_sandbox *sb, enum interrupt_level level);

#endif
