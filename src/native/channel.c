/* SPDX-License-Identifier: Apache-2.0 */
#include "native/channel.h"

#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/*
 * Functions to send messages to a sandbox' PID 1 and porter, and to read fields of both's messages.
 */

int channel_send(struct native_sandbox *sb, int socket, const struct buf *b, const int *fds,
		size_t n, struct fh_error *err)
{
	int r;

	if (b->truncated)
		return error_say(err, E2BIG, "the request is larger than %zu bytes", b->cap);
	sb->n_unasked = 0;
	sb->n_told = 0;
	r = sb->gone ? -EPIPE : fd_send_message(socket, b->data, b->len, fds, n, MSG_DONTWAIT);
	if (r == -EAGAIN)
		sb->gone = true;
	return r < 0 ? error_set(err, -r, "send to the sandbox") : 0;
}

int channel_check_path(const char *path, struct fh_error *err)
{
	if (path && strlen(path) > GUEST_PATH_MAX)
		return error_say(err, ENAMETOOLONG, "a path of more than %d bytes", GUEST_PATH_MAX);
	return 0;
}

void channel_copy_reason(struct wire *w, char *out, size_t size)
{
	size_t n;
	const char *at = wire_get_bytes(w, &n);

	if (!at)
		n = 0;
	if (n >= size)
		w->bad = true;
	else
		memcpy(out, at ? at : "", n);
	n = n < size ? n : 0;
	out[n] = '\0';
	for (ssize_t bad; (bad = str_utf8_invalid(out, n)) >= 0;)
		out[bad] = '?';
	if (!*out)
		snprintf(out, size, "the sandbox gave no reason");
}
