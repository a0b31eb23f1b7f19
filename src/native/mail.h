/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_MAIL_H
#define NATIVE_MAIL_H

#include "native/native.h"

/* Makes the memory. *out_fd is a descriptor for the shell. */
int mail_new(struct shell_mail **out, int *out_fd, struct fh_error *err);
void mail_free(struct shell_mail *mail); /* NULL is fine */

/*
 * Writes the shell's next command, of at most SHELL_COMMAND_MAX bytes. The shell must have answered
 * the last one. Does nothing if the shell has ended: an event reports that.
 */
void mail_send(struct native_sandbox *sb, uint64_t nonce, uint32_t flags, const char *text);
/* Whether the shell claims that it has written its answer. Faster than waiting for a descriptor. */
bool mail_answered(const struct native_sandbox *sb);
/* Blocks until the shell has answered, or the timeout. Watches nothing else, so keep it short. */
bool mail_await(struct native_sandbox *sb, int64_t timeout_ns);
/*
 * Has the answer wake a caller that waits by sandbox_waits(). False: the shell has answered
 * already.
 */
bool mail_listen(struct native_sandbox *sb);
/*
 * Copies the answer's status and working directory, which the agent may have written. -EPROTO: a
 * length is out of bounds.
 */
int mail_status(const struct native_sandbox *sb, struct shell_status *out, char *cwd,
		size_t cwd_size);
/* Appends the answer's output, whose length is in `status`. */
void mail_output(const struct native_sandbox *sb, const struct shell_status *status,
		struct buf *output, bool *out_cut);

#endif
