/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_START_H
#define NATIVE_START_H

#include "native/native.h"

/*
 * Functions that start and end a sandbox, or start a new shell in it. control.c exchanges messages
 * with its PID 1.
 */

int start_begin(struct owner *owner, const struct sandbox_options *options, struct sandbox **out,
		struct fh_error *err);
void start_close(struct sandbox *base);
void start_close_traceless(struct sandbox *base, struct job **out);
int start_pause(struct sandbox *base, struct job **out, struct fh_error *err);
void start_resume(struct sandbox *base);
void start_fds(const struct sandbox *base, int out_fds[SANDBOX_FDS]);
/* Starts a new shell after the last shell of the sandbox has ended. The sandbox' files stay. */
int start_shell_again(struct native_sandbox *sb, struct fh_error *err);

#endif
