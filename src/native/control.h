/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CONTROL_H
#define NATIVE_CONTROL_H

#include "native/native.h"

/* Marks the sandbox as gone, and gives the event that says so. */
void control_set_gone(struct native_sandbox *sb, struct sandbox_event *out);
/* Returns PID 1's next event without waiting, or SANDBOX_NONE. */
void control_receive(struct native_sandbox *sb, struct sandbox_event *out);

int control_run(struct sandbox *base, const struct run_request *request, uint32_t *out_id,
		struct fh_error *err);
int control_go(struct sandbox *base, uint32_t id, struct fh_error *err);
int control_signal(struct sandbox *base, uint32_t id, int signal_number, struct fh_error *err);

/*
 * Interrupts the shell's command. ASK sends SIGCONT, INTERRUPT_SIGNAL and SIGINT to all processes
 * born since the command began. KILL kills these processes. SHELL kills the shell too. ALL kills
 * every process of the sandbox, since any may hold a lock that the shell waits for.
 *
 * sb->interruptions counts the interruption until PID 1 has sent the signals. Until then no new
 * command may begin: the signals would hit it.
 */
enum interrupt_level { INTERRUPT_ASK, INTERRUPT_KILL, INTERRUPT_SHELL, INTERRUPT_ALL };
void control_interrupt(struct native_sandbox *sb, enum interrupt_level level);

#endif
