/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CHANNEL_H
#define NATIVE_CHANNEL_H

#include "native/native.h"

/*
 * Sends a message on the socket of PID 1 or of the porter. If the socket is full, the process at
 * its other end hangs, and the sandbox is marked as gone.
 */
int channel_send(struct native_sandbox *sb, int socket, const struct buf *b, const int *fds,
		size_t n, struct fh_error *err);

/* Refuses a path that is longer than the sandbox' processes accept. NULL is fine. */
int channel_check_path(const char *path, struct fh_error *err);

/*
 * Copies the reason of a failure from a received message. The sender is untrusted and may leave it
 * out.
 */
void channel_copy_reason(struct wire *w, char *out, size_t size);

#endif
