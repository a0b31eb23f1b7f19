/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FD_H
#define BASE_FD_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Descriptors: whole reads and writes (EINTR and short counts are dealt with), and descriptors
 * sent over a unix socket. Functions without an `err` return -errno and are safe after fork.
 */

/* Bytes read, fewer than n only at the end of the file. */
ssize_t fd_read_full(int fd, void *data, size_t n);
int fd_write_full(int fd, const void *data, size_t n);

/* To the end, or to out's cap, when it sets `truncated`: what never ends is read no further. */
int fd_read_all(int fd, struct buf *out);

/* What is left of the file `from`, by the kernel: nothing of it passes through this process. */
int fd_copy(int from, int to);

/* The whole file `from` into the empty file `to`, holes as holes: what is long and empty takes neither memory
 * nor disk. -EFBIG if it is longer than `most`. Where both stand then is not said. */
int fd_copy_sparse(int from, int to, int64_t most);

/* A pipe, both ends close-on-exec; the reading one never blocks. flags: O_DIRECT for messages. */
int fd_pipe(int *out_read, int *out_write, int flags);

#define FD_MESSAGE_FDS_MAX 64

/* One message with up to FD_MESSAGE_FDS_MAX descriptors; the caller keeps its own. MSG_NOSIGNAL. */
int fd_send_message(int sock, void *data, size_t n, const int *fds, size_t n_fds, int flags);

/*
 * Bytes of the next message (0: the peer is gone), -EMSGSIZE if it did not fit. Takes at most
 * max_fds descriptors into fds, close-on-exec, and closes any more that the peer sent.
 */
ssize_t fd_recv_message(int sock, void *data, size_t n, int *fds, size_t max_fds, size_t *out_n_fds,
		int flags);

/* A descriptor to read a file that somebody named: regular ones only, and without waiting, so that a
 * FIFO or a device is refused (EINVAL), not read for ever. */
int fd_open_file(const char *path, struct fh_error *err);

/* The whole file at path, opened so, an error (EFBIG) if it is larger than out's cap. */
int fd_read_file(const char *path, struct buf *out, struct fh_error *err);

/* The same of what lies in a folder that may be a stranger's, as that of a record: a symbolic link, which could name any
 * file of this user's, is refused, too (ELOOP). The folders of path may be links. */
int fd_open_plain(const char *path, struct fh_error *err);
int fd_read_plain(const char *path, struct buf *out, struct fh_error *err);

/*
 * Writes path so that it is either whole or as it was; a file that was there keeps its mode. A process that is killed
 * meanwhile leaves nothing beside a path that was not there before, where the file system has files without a name.
 */
int fd_write_file(const char *path, const void *data, size_t n, mode_t mode, struct fh_error *err);

#endif
