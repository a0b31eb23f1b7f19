/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_MAIL_H
#define NATIVE_MAIL_H

#include "native/native.h"

/*
 * Makes the memory for a shell's commands and answers. *out_fd is a descriptor of it for the shell.
 */
int mail_new(struct shell_mail **out, int *out_fd, struct fh_error *err);
void mail_free(struct shell_mail *mail); /* NULL is fine */

/*
 * Writes the shell's next command, of at most SHELL_COMMAND_MAX bytes. The shell must have answered
 * the last one. Does nothing if there is no shell memory, because no new shell could be started.
 */
void mail_send(struct native_sandbox *sb, uint64_t nonce, uint32_t flags, const char *text);
/* Returns true if the shell claims that it has written its answer. Faster than waiting for a
 * descriptor. */
bool mail_answered(const struct native_sandbox *sb);
/*
 * Blocks until the shell has answered, or until the timeout. Nothing else wakes the caller, so use
 * a short timeout. True: the shell claims that it has answered.
 */
bool mail_await(struct native_sandbox *sb, int64_t timeout_ns);
/*
 * Asks the shell to wake a caller that waits by sandbox_waits() when the answer is there. Returns
 * false if the shell has answered already.
 */
bool mail_listen(struct native_sandbox *sb);
/*
 * Copies the answer's status and working directory from the shell's memory, where the agent may
 * have changed them. -EPROTO: a length is out of bounds.
 */
int mail_status(const struct native_sandbox *sb, struct shell_status *out, char *cwd,
		size_t cwd_size);
/*
 * Appends the answer's output, whose length is in `status`. *out_cut: the buffer had no room for
 * all of it.
 */
void mail_output(const struct native_sandbox *sb, const struct shell_status *status,
		struct buf *output, bool *out_cut);

#endif
